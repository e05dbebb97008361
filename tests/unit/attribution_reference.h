/* Reference implementation of the attribution of waits, literally by its definitions: what ran is
 * counted nanosecond by nanosecond, a wait is replaced by its causes by recursion, and the last
 * synchronization of two threads is found by looking at all of them. */
#ifndef TESTS_UNIT_ATTRIBUTION_REFERENCE_H
#define TESTS_UNIT_ATTRIBUTION_REFERENCE_H

#include "server/analysis/wait_attribution.h"
#include "tests/unit/random_programs.h"

#define SLOTS 40 /* steps; the SEGMENT_IDS_RESERVED special ones come first */
#define LINES 18
#define LONGEST 4096 /* maximum length of a run in ns */

struct amounts {
    int64_t ns[SLOTS][LINES]; /* by step + SEGMENT_IDS_RESERVED and line */
};

struct counting {
    const struct intervals *all;
    /* by thread and ns: index of the interval that contains it; -1: none */
    int at[THREADS][LONGEST];
    struct amounts *reasons; /* by wait interval */
    bool *known;
};

static inline struct counting counting(const struct intervals *all)
{
    struct counting c = {.all = all};
    memset(c.at, -1, sizeof c.at);
    for (uint32_t t = 0; t < all->thread_count; t++) {
        const struct thread_timeline *course = &all->threads[t];
        for (size_t i = 0; i < course->count; i++)
            for (int64_t ns = interval_begin(course, i); ns < course->items[i].to_ns; ns++)
                c.at[t][ns] = (int)i;
    }
    c.reasons = calloc(all->segment_count + 1, sizeof *c.reasons);
    c.known = calloc(all->segment_count + 1, sizeof *c.known);
    return c;
}

static inline void counting_free(struct counting *c)
{
    free(c->reasons);
    free(c->known);
}

static inline void count_one(struct amounts *into, uint32_t step, uint32_t line, int64_t ns)
{
    assert(step + SEGMENT_IDS_RESERVED < SLOTS && line < LINES);
    into->ns[step + SEGMENT_IDS_RESERVED][line] += ns;
}

/* Gets the step that runs in a nanosecond, and its thread: that of the line itself; while it
 * waits, that of the thread that it waits for; before it was created, that of its creator. */
static inline void runner(const struct counting *c, uint32_t line, int64_t ns, uint32_t *step,
                          uint32_t *who)
{
    for (;;) {
        const struct thread_timeline *course = intervals_for_thread(c->all, line);
        int i = c->at[course - c->all->threads][ns];
        *who = line;
        if (i >= 0 && course->items[i].is == INTERVAL_SEGMENT)
            line = c->all->segments[course->items[i].of].thread;
        else if (i >= 0) {
            *step = course->items[i].step;
            return;
        } else if (ns < course->start_ns && course->maker && ns < course->made_ns)
            line = course->maker;
        else {
            *step = ns < course->start_ns && course->maker ? STEP_STARTING : STEP_NOT_THERE;
            return;
        }
    }
}

static inline void count_overlap(const struct counting *c, struct amounts *into, uint32_t line,
                                 int64_t from_ns, int64_t to_ns)
{
    for (int64_t ns = from_ns; ns < to_ns; ns++) {
        uint32_t step, who;
        runner(c, line, ns, &step, &who);
        count_one(into, step, who, 1);
    }
}

static inline int64_t max_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Returns the line of a thread at a moment; before its creation, that of its creator,
 * recursively. */
static inline uint32_t lived_by(const struct counting *c, uint32_t line, int64_t ns)
{
    const struct thread_timeline *course = intervals_for_thread(c->all, line);
    for (; course->maker && ns < course->made_ns; course = intervals_for_thread(c->all, line))
        line = course->maker;
    return line;
}

/* Returns the moment at which two threads became distinct: before it, lived_by() is the same line
 * for both. */
static inline int64_t descent(const struct counting *c, uint32_t a, uint32_t b, int64_t until_ns)
{
    int64_t begin = LONGEST, ns = until_ns;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t line = i ? b : a; line; line = intervals_for_thread(c->all, line)->maker)
            if (!intervals_for_thread(c->all, line)->maker &&
                intervals_for_thread(c->all, line)->start_ns < begin)
                begin = intervals_for_thread(c->all, line)->start_ns;
    while (ns > 0 && lived_by(c, a, ns - 1) != lived_by(c, b, ns - 1))
        ns--;
    return ns ? ns : begin < until_ns ? begin : until_ns;
}

static inline int64_t last_meeting(const struct counting *c, uint32_t a, uint32_t b,
                                   int64_t until_ns)
{
    const struct intervals *all = c->all;
    int64_t best = INTERVALS_NEVER;
    for (size_t i = 0; i < all->segment_count; i++) {
        uint32_t self = all->waits[all->segments[i].wait].thread, other = all->segments[i].thread;
        if (all->segments[i].class == WAIT_RENDEZVOUS && all->segments[i].to_ns <= until_ns &&
            ((self == a && other == b) || (self == b && other == a)))
            best = max_of(best, all->segments[i].to_ns);
    }
    const struct thread_timeline *p = intervals_for_thread(all, a),
                                 *q = intervals_for_thread(all, b);
    for (size_t i = 0; i < p->gathering_count; i++)
        for (size_t j = 0; j < q->gathering_count; j++)
            if (p->gatherings[i].at_ns == q->gatherings[j].at_ns &&
                p->gatherings[i].group == q->gatherings[j].group &&
                p->gatherings[i].at_ns <= until_ns)
                best = max_of(best, p->gatherings[i].at_ns);
    return max_of(best, descent(c, a, b, until_ns));
}

static inline const struct amounts *count_reasons(struct counting *c, uint32_t segment);

static inline void add_amounts(struct amounts *into, const struct amounts *what, int64_t sign)
{
    for (int s = 0; s < SLOTS; s++)
        for (int l = 0; l < LINES; l++)
            into->ns[s][l] += sign * what->ns[s][l];
}

/* Adds the expanded path: what the thread did, with each wait interval replaced by its causes. */
static inline void count_path(struct counting *c, struct amounts *into, uint32_t line,
                              int64_t from_ns, int64_t to_ns)
{
    while (from_ns < to_ns) {
        const struct thread_timeline *course = intervals_for_thread(c->all, line);
        int i = c->at[course - c->all->threads][from_ns];
        if (i < 0 && from_ns < course->start_ns && course->maker) {
            uint32_t self = lived_by(c, line, from_ns);
            int64_t end = to_ns < course->made_ns ? to_ns : course->made_ns;
            if (self != line && from_ns < end)
                count_path(c, into, course->maker, from_ns, end);
            else
                count_overlap(c, into, line, from_ns, end = from_ns + 1);
            from_ns = end;
            continue;
        }
        int64_t begin = i < 0 ? from_ns : interval_begin(course, (size_t)i),
                end = i < 0 ? from_ns + 1 : course->items[i].to_ns;
        if (i >= 0 && course->items[i].is == INTERVAL_SEGMENT && begin == from_ns && end <= to_ns)
            add_amounts(into, count_reasons(c, course->items[i].of), 1);
        else
            count_overlap(c, into, line, from_ns, end < to_ns ? end : to_ns);
        from_ns = end;
    }
}

static inline const struct amounts *count_reasons(struct counting *c, uint32_t segment)
{
    const struct wait_interval *s = &c->all->segments[segment];
    const struct wait_record *wait = &c->all->waits[s->wait];
    int64_t begin = wait_interval_begin(c->all, segment);
    struct amounts *found = &c->reasons[segment];
    if (c->known[segment])
        return found;
    c->known[segment] = true;
    if (begin >= s->to_ns)
        return found;
    if (s->class == WAIT_CONTENTION) {
        count_overlap(c, found, s->thread, begin, s->to_ns);
        return found;
    }
    struct amounts mine = {0};
    int64_t since = last_meeting(c, wait->thread, s->thread, wait->from_ns);
    count_path(c, found, s->thread, since, s->to_ns);
    count_path(c, &mine, wait->thread, since, begin);
    add_amounts(found, &mine, -1);
    return found;
}

#endif
