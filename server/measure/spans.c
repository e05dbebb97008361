#include "server/measure/spans.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#define SWITCHES_MOST ((size_t)8 << 20) /* of all threads, 16 bytes each */
#define LATE_SLICES 12u /* what comes late is looked for in so many, */
#define DENSE 64u       /* but in few where they have more intervals than this */
#define SAMPLES_MOST ((size_t)1 << 14)  /* of a thread; then every other one goes */
#define CLOCKS_MOST ((size_t)1 << 18)   /* likewise */

struct sample {
    int64_t at_ns, ran_ns, ready_ns;
    bool anew; /* nothing is known of what was before it */
};

struct samples {
    struct sample *items;
    size_t count, room;
};

struct thread {
    struct turn {
        int64_t at_ns;
        uint8_t what; /* an enum switched */
    } *turns;
    size_t turn_count, turn_room;
    struct told { /* so many switches were, while there were no more than so many events */
        uint64_t events;
        size_t turns; /* with those that are forgotten */
    } *told;
    size_t told_count, told_room, gone; /* switches that are forgotten */
    bool late; /* what was before the first is not known */
    struct samples samples;
    struct samples clocks; /* at its events; ready_ns is not told */
    bool ended; /* the last sample is what it said at its end */
};

struct spans {
    struct map threads; /* line -> struct thread */
    size_t turns;
    uint64_t lost;
    char *why; /* there are no switches; NULL: nobody said */
};

struct spans *spans_new(void) { return memory_zeroed(1, sizeof(struct spans)); }

static void free_thread(void *value)
{
    struct thread *t = value;
    free(t->turns);
    free(t->told);
    free(t->samples.items);
    free(t->clocks.items);
    free(t);
}

void spans_free(struct spans *spans)
{
    if (!spans)
        return;
    for (struct map_walk walk = {.map = &spans->threads}; map_next(&walk);)
        free_thread(walk.value);
    map_free(&spans->threads);
    free(spans->why);
    free(spans);
}

static struct thread *thread_of(const struct spans *spans, uint32_t line)
{
    return spans ? map_get(&spans->threads, line, 0) : NULL;
}

static struct thread *made_thread(struct spans *spans, uint32_t line)
{
    struct thread *t = thread_of(spans, line);
    if (!t)
        map_put(&spans->threads, line, 0, t = memory_zeroed(1, sizeof *t));
    return t;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- filling ---- */

void spans_refused(struct spans *spans, const char *why)
{
    free(spans->why);
    spans->why = memory_copied(why);
}

void spans_lost(struct spans *spans, uint64_t switches) { spans->lost += switches; }

static void note_told(struct thread *t, uint64_t events)
{
    if (!t->told_count || t->told[t->told_count - 1].events != events) {
        t->told = grow(t->told, &t->told_room, t->told_count + 1, sizeof *t->told);
        t->told[t->told_count++] = (struct told){.events = events};
    }
    t->told[t->told_count - 1].turns = t->gone + t->turn_count;
}

void spans_switched(struct spans *spans, uint32_t line, enum switched what, int64_t at_ns,
                    uint64_t events)
{
    struct thread *t = made_thread(spans, line);
    const struct turn *last = t->turn_count ? &t->turns[t->turn_count - 1] : NULL;
    bool full = spans->turns >= SWITCHES_MOST;
    if (full)
        spans->lost++;
    if ((full && last && last->what == SWITCHED_LOST) || (last && at_ns < last->at_ns))
        return; /* (of each thread one more, so that it is seen where its switches end) */
    t->turns = grow(t->turns, &t->turn_room, t->turn_count + 1, sizeof *t->turns);
    t->turns[t->turn_count++] = (struct turn){at_ns, (uint8_t)(full ? SWITCHED_LOST : what)};
    spans->turns++;
    note_told(t, events);
}

static void forget(struct spans *spans, struct thread *t, uint64_t events)
{
    size_t passed = 0;
    while (passed < t->told_count && t->told[passed].events <= events)
        passed++;
    if (!passed)
        return;
    size_t end = t->told[passed - 1].turns - t->gone,
           gone = end < t->turn_count ? end : t->turn_count - 1;
    t->told_count -= passed;
    memmove(t->told, t->told + passed, t->told_count * sizeof *t->told);
    t->turn_count -= gone;
    memmove(t->turns, t->turns + gone, t->turn_count * sizeof *t->turns);
    t->gone += gone;
    spans->turns -= gone;
    t->late |= gone != 0;
}

void spans_forget(struct spans *spans, uint64_t events)
{
    for (struct map_walk walk = {.map = &spans->threads}; map_next(&walk);)
        forget(spans, walk.value, events);
}

void spans_begin_late(struct spans *spans)
{
    for (struct map_walk walk = {.map = &spans->threads}; map_next(&walk);)
        ((struct thread *)walk.value)->late = true;
}

static void thin(struct samples *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (i % 2 == 0 || i + 1 == s->count || s->items[i].anew)
            s->items[kept++] = s->items[i];
    s->count = kept;
}

/* NULL: it is too early. */
static struct sample *sample_of(struct samples *s, int64_t at_ns, size_t most_items)
{
    if (s->count >= most_items)
        thin(s);
    struct sample *last = s->count ? &s->items[s->count - 1] : NULL;
    if (last && at_ns <= last->at_ns)
        return at_ns < last->at_ns ? NULL : last;
    struct sample next = {at_ns, last ? last->ran_ns : 0, last ? last->ready_ns : 0, false};
    s->items = grow(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count] = next;
    return &s->items[s->count++];
}

void spans_stood(struct spans *spans, uint32_t line, bool delay, int64_t at_ns, uint64_t ns,
                 bool last)
{
    struct thread *t = made_thread(spans, line);
    struct samples *all = &t->samples;
    if (ns > INT64_MAX || (t->ended && !last))
        return; /* it is there until somebody has waited for it */
    while (last && all->count && all->items[all->count - 1].at_ns > at_ns)
        all->count--; /* one that was taken meanwhile was told first */
    t->ended |= last;
    struct sample *s = sample_of(all, at_ns, SAMPLES_MOST);
    if (!s)
        return;
    int64_t *stood = delay ? &s->ready_ns : &s->ran_ns;
    *stood = most(*stood, (int64_t)ns);
}

void spans_clocked(struct spans *spans, uint32_t line, int64_t at_ns, uint64_t ran_ns, bool anew)
{
    struct sample *s = ran_ns <= INT64_MAX
                           ? sample_of(&made_thread(spans, line)->clocks, at_ns, CLOCKS_MOST)
                           : NULL;
    if (!s)
        return;
    s->ran_ns = anew ? (int64_t)ran_ns : most(s->ran_ns, (int64_t)ran_ns);
    s->anew = anew;
}

/* ---- looking ---- */

static enum spans_source source_of(const struct thread *t, enum spans_source most)
{
    most = most == SPANS_ORDER ? SPANS_SWITCHES : most;
    if (!t)
        return SPANS_ORDER;
    if (t->turn_count && most >= SPANS_SWITCHES)
        return SPANS_SWITCHES;
    if (t->clocks.count && most >= SPANS_CLOCK)
        return SPANS_CLOCK;
    return t->samples.count ? SPANS_SAMPLES : SPANS_ORDER;
}

enum spans_source spans_best(const struct spans *spans, uint32_t line, enum spans_source most)
{
    return source_of(thread_of(spans, line), most);
}

int64_t spans_apart(const struct spans *spans, uint32_t line, int64_t from_ns, int64_t to_ns)
{
    const struct thread *t = thread_of(spans, line);
    int64_t apart = 0;
    const struct sample *s = t ? t->samples.items : NULL;
    for (size_t i = 1; t && i < t->samples.count; i++)
        if (s[i].at_ns > from_ns && s[i - 1].at_ns < to_ns && s[i].ran_ns > s[i - 1].ran_ns)
            apart = most(apart, s[i].at_ns - s[i - 1].at_ns);
    return apart;
}

const char *spans_why(const struct spans *spans) { return spans ? spans->why : NULL; }

uint64_t spans_lost_count(const struct spans *spans) { return spans ? spans->lost : 0; }

int64_t spans_known_ns(const struct spans *spans, uint32_t line)
{
    const struct thread *t = thread_of(spans, line);
    switch (spans_best(spans, line, SPANS_ORDER)) {
    case SPANS_SWITCHES:
        return t->turns[t->turn_count - 1].at_ns;
    case SPANS_CLOCK:
        return t->clocks.items[t->clocks.count - 1].at_ns;
    case SPANS_SAMPLES:
        return t->ended ? INT64_MAX : t->samples.items[t->samples.count - 1].at_ns;
    default:
        return INT64_MAX;
    }
}

/* ---- switches ---- */

/* How many of them come no later than a time; *near: the answer of last time. */
static size_t turns_before(const struct thread *t, int64_t at_ns, size_t *near)
{
    size_t low = *near, high = t->turn_count, by = 1;
    if (low > high || (low && t->turns[low - 1].at_ns > at_ns))
        low = 0;
    while (low + by < high && t->turns[low + by].at_ns <= at_ns) /* it is mostly near */
        by *= 2;
    high = low + by < high ? low + by + 1 : high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->turns[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return *near = low;
}

/* Before its first switch it did whatever that one put an end to; where there were some before, as the order has it. */
static enum span_is is_after(const struct thread *t, size_t turns)
{
    static const uint8_t is[SWITCHED_KINDS] = {[SWITCHED_ON] = SPAN_RUNNING,
                                               [SWITCHED_OUT] = SPAN_READY,
                                               [SWITCHED_ASLEEP] = SPAN_SYSTEM,
                                               [SWITCHED_LOST] = SPAN_RUNNING};
    if (turns)
        return is[t->turns[turns - 1].what];
    return !t->late && t->turns[0].what == SWITCHED_ON ? SPAN_READY : SPAN_RUNNING;
}

struct visitor {
    void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns);
    void *context;
};

static void visit_turns(const struct thread *t, struct spans_walk *walk, int64_t from_ns,
                        int64_t to_ns, struct visitor v)
{
    for (size_t i = turns_before(t, from_ns, &walk->near); from_ns < to_ns; i++) {
        int64_t until = i < t->turn_count ? least(t->turns[i].at_ns, to_ns) : to_ns;
        if (until > from_ns)
            v.visit(v.context, is_after(t, i), from_ns, until);
        from_ns = most(until, from_ns);
        walk->near = i;
    }
}

/* ---- samples ---- */

/* Index of the first sample after a time; the count, if there is none. */
static size_t sample_after(const struct samples *s, int64_t at_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->items[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How long it had been ready; between two samples as if it had been evenly. */
static int64_t ready_by(const struct samples *s, int64_t at_ns)
{
    size_t next = sample_after(s, at_ns);
    if (!s->count || next == s->count)
        return s->count ? s->items[s->count - 1].ready_ns : 0;
    struct sample to = s->items[next], from = next ? s->items[next - 1] : to;
    if (!next)
        return 0;
    double share = (double)(at_ns - from.at_ns) / (double)(to.at_ns - from.at_ns);
    return from.ready_ns + (int64_t)(share * (double)(to.ready_ns - from.ready_ns));
}

/* What is looked at: the samples of a thread, or its clock. */
struct sampled {
    const struct thread *t;
    const struct samples *samples;
    const struct course_of *course;
};

/* What a slice has: as the order tells it, and what of that it ran and was ready; what does not fit is over. */
struct had {
    int64_t from_ns, to_ns, active_ns, ran_ns, ready_ns, ran_over_ns, ready_over_ns;
};

static int64_t common(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return most(0, least(b, d) - most(a, c));
}

/* What the samples say of the slice that ends with one. */
static void stood(const struct sampled *of, size_t index, struct had *h)
{
    const struct sample *to = &of->samples->items[index], *from = index ? to - 1 : NULL;
    h->ran_ns = to->ran_ns - (from ? from->ran_ns : 0);
    h->ready_ns = of->samples == &of->t->clocks
                      ? ready_by(&of->t->samples, h->to_ns) - ready_by(&of->t->samples, h->from_ns)
                      : to->ready_ns - (from ? from->ready_ns : 0);
}

/* The slice that ends with a sample, 0: since its begin. */
static struct had had(const struct sampled *of, size_t index)
{
    const struct course_of *c = of->course;
    const struct sample *to = &of->samples->items[index];
    struct had h = {.from_ns = index ? to[-1].at_ns : c->start_ns, .to_ns = to->at_ns};
    int64_t latency = 0;
    for (size_t i = intervals_at(c, h.from_ns); i < c->count && interval_begin(c, i) < h.to_ns;
         i++) {
        int64_t part = common(interval_begin(c, i), c->items[i].to_ns, h.from_ns, h.to_ns);
        h.active_ns += c->items[i].is == INTERVAL_RUNS ? part : 0;
        latency += c->items[i].is == INTERVAL_LATENCY ? part : 0; /* the order tells of that */
    }
    stood(of, index, &h);
    int64_t ran = to->anew ? h.active_ns : h.ran_ns, ready = most(h.ready_ns - latency, 0);
    h.ran_ns = least(ran, h.active_ns);
    h.ready_ns = least(ready, h.active_ns - h.ran_ns);
    h.ran_over_ns = ran - h.ran_ns;
    h.ready_over_ns = ready - h.ready_ns;
    return h;
}

/* What is over in a slice was in those before it: the kernel counts what goes on still a little late, and a time without
 * a processor when it is over. */
static void take_over(struct had *h, int64_t *ran_over_ns, int64_t *ready_over_ns)
{
    int64_t room = h->active_ns - h->ran_ns - h->ready_ns, more = least(*ran_over_ns, room);
    h->ran_ns += more;
    room -= more;
    *ran_over_ns += h->ran_over_ns - more;
    more = least(*ready_over_ns, room);
    h->ready_ns += more;
    *ready_over_ns += h->ready_over_ns - more;
}

/* A clock at events is not late: it is read by the thread itself. */
static size_t late_slices(const struct sampled *of, size_t index)
{
    const struct course_of *c = of->course;
    const struct sample *s = of->samples->items;
    size_t first = intervals_at(c, index ? s[index - 1].at_ns : c->start_ns);
    if (of->samples == &of->t->clocks)
        return 1;
    bool dense = first + DENSE < c->count && c->items[first + DENSE].to_ns < s[index].at_ns;
    return dense ? 2 : LATE_SLICES;
}

static struct spans_slice slice_at(const struct sampled *of, size_t index)
{
    int64_t ran_over_ns = 0, ready_over_ns = 0;
    struct had h = {0};
    size_t late = late_slices(of, index), count = of->samples->count;
    size_t i = count - index < late ? count : index + late;
    while (i-- > index) {
        h = had(of, i);
        take_over(&h, &ran_over_ns, &ready_over_ns);
    }
    return (struct spans_slice){.index = index,
                                .from_ns = h.from_ns,
                                .to_ns = h.to_ns,
                                .ran_ns = h.ran_ns,
                                .ready_ns = h.ready_ns,
                                .at_ns = h.from_ns};
}

/* How much of what the order calls running lies between two times. */
static int64_t active(const struct course_of *c, int64_t from_ns, int64_t to_ns)
{
    int64_t all = 0;
    for (size_t i = intervals_at(c, from_ns); i < c->count && interval_begin(c, i) < to_ns; i++)
        if (c->items[i].is == INTERVAL_RUNS)
            all += common(interval_begin(c, i), c->items[i].to_ns, from_ns, to_ns);
    return all;
}

static void look_at(const struct sampled *of, struct spans_walk *walk, size_t index, int64_t at_ns)
{
    struct spans_slice *s = &walk->slice;
    if (!walk->has || s->index != index || s->at_ns > at_ns)
        *s = slice_at(of, index);
    walk->has = true;
    s->passed_ns += active(of->course, s->at_ns, at_ns);
    s->at_ns = at_ns;
}

/* A part of a slice in which the order says that it ran. */
static void visit_part(struct spans_slice *s, int64_t to_ns, struct visitor v)
{
    int64_t ends[] = {s->ran_ns, s->ran_ns + s->ready_ns, INT64_MAX};
    for (unsigned is = SPAN_RUNNING; is <= SPAN_SYSTEM && s->at_ns < to_ns; is++) {
        int64_t took = least(ends[is] - s->passed_ns, to_ns - s->at_ns);
        if (took <= 0)
            continue;
        v.visit(v.context, (enum span_is)is, s->at_ns, s->at_ns + took);
        s->at_ns += took;
        s->passed_ns += took;
    }
}

static void visit_samples(const struct sampled *of, struct spans_walk *walk, int64_t from_ns,
                          int64_t to_ns, struct visitor v)
{
    bool same = walk->has && walk->slice.from_ns <= from_ns && from_ns < walk->slice.to_ns;
    size_t index = same ? walk->slice.index : sample_after(of->samples, from_ns);
    for (; index < of->samples->count && from_ns < to_ns; index++) {
        int64_t until = least(of->samples->items[index].at_ns, to_ns);
        look_at(of, walk, index, from_ns);
        visit_part(&walk->slice, until, v);
        from_ns = until;
    }
    if (from_ns < to_ns) /* what comes after the last one is not known yet */
        v.visit(v.context, SPAN_RUNNING, from_ns, to_ns);
}

bool spans_delays(const struct spans *spans, uint32_t line)
{
    const struct thread *t = thread_of(spans, line);
    return t && t->samples.count;
}

int64_t spans_astray(const struct spans *spans, const struct course_of *c, int64_t from_ns,
                     int64_t to_ns)
{
    const struct thread *t = thread_of(spans, c->thread);
    int64_t astray = 0;
    if (!t)
        return 0;
    struct sampled of = {t, &t->clocks, c};
    for (size_t i = sample_after(of.samples, from_ns);
         i < of.samples->count && (!i || of.samples->items[i - 1].at_ns < to_ns); i++) {
        struct had h = had(&of, i);
        astray = most(astray, least(h.ran_ns, h.active_ns - h.ran_ns));
    }
    return astray;
}

/* ---- either ---- */

void spans_visit(const struct spans *spans, const struct course_of *course, struct spans_walk *walk,
                 int64_t from_ns, int64_t to_ns,
                 void (*visit)(void *context, enum span_is is, int64_t from_ns, int64_t to_ns),
                 void *context)
{
    const struct thread *t = thread_of(spans, course->thread);
    struct visitor v = {visit, context};
    switch (source_of(t, walk->most)) {
    case SPANS_SWITCHES:
        visit_turns(t, walk, from_ns, to_ns, v);
        break;
    case SPANS_CLOCK:
        visit_samples(&(struct sampled){t, &t->clocks, course}, walk, from_ns, to_ns, v);
        break;
    case SPANS_SAMPLES:
        visit_samples(&(struct sampled){t, &t->samples, course}, walk, from_ns, to_ns, v);
        break;
    default:
        visit(context, SPAN_RUNNING, from_ns, to_ns);
    }
}

static void add(void *context, enum span_is is, int64_t from_ns, int64_t to_ns)
{
    struct span_sums *sums = context;
    int64_t *of[] = {&sums->running_ns, &sums->ready_ns, &sums->system_ns};
    *of[is] += to_ns - from_ns;
}

struct span_sums spans_of(const struct spans *spans, const struct course_of *c, int64_t from_ns,
                          int64_t to_ns)
{
    struct span_sums sums = {.source = spans_best(spans, c->thread, SPANS_ORDER)};
    struct spans_walk walk = {0};
    if (sums.source == SPANS_SAMPLES)
        sums.error_ns = spans_apart(spans, c->thread, from_ns, to_ns);
    if (sums.source == SPANS_CLOCK)
        sums.error_ns = spans_astray(spans, c, from_ns, to_ns);
    for (size_t i = intervals_at(c, from_ns); i < c->count && interval_begin(c, i) < to_ns; i++) {
        int64_t from = most(interval_begin(c, i), from_ns), to = least(c->items[i].to_ns, to_ns);
        if (to <= from)
            continue;
        if (c->items[i].is == INTERVAL_RUNS)
            spans_visit(spans, c, &walk, from, to, add, &sums);
        else if (c->items[i].is == INTERVAL_LATENCY)
            sums.ready_ns += to - from;
        else
            sums.blocked_ns += to - from;
    }
    return sums;
}
