#include "server/queries/undelivered_signals.h"

#include "base/lower_bound.h"
#include "base/alloc.h"
#include "server/queries/wait_start.h"
#include "server/run/untraced_reasons.h"

#include <stdlib.h>
#include <string.h>

/* Events of the log, on either side of the window, that are searched for waits of any thread. */
#define AROUND 100000u
#define LINES_MOST 65536u /* maximum number of lines of a run; */
#define THREADS_MOST 512u /* maximum number of threads; with more, nothing is reported */
#define PLACES_MOST 16u /* maximum number of lines on which threads wait for the wanted objects */
#define STEPS_MOST 256u /* events of one thread searched backwards for where it is */
#define COMPARISON 20000u /* limit of one comparison, in events; */
#define ALL_MOST 20000000u /* limit of all work for one window */

/* An event about a wanted object: the begin of a wait, or its end. */
struct undelivered_found {
    uint64_t position;
    uint32_t object, line;
    bool waits;
};

/* A line on which threads wait for an object. */
struct undelivered_place {
    uint32_t object, line;
};

/* A thread's two adjacent events around a signal in the log. */
struct thread_whereabouts {
    uint32_t line;
    bool known;
    uint64_t before, after; /* positions; NO_POSITION: none */
};

struct undelivered_signals {
    const struct run *run;
    const struct order *order;
    uint64_t *signals; /* positions of the signals to check, ascending */
    size_t count, room, at;
    uint8_t *wanted; /* by line - 1: whether it is the object of such a signal */
    uint32_t lines;
    /* The log is searched from `end` down to `least`; all from `from` on is done. */
    uint64_t from, least, end;
    struct undelivered_found *found; /* in descending order of positions */
    size_t found_count, found_room;
    struct undelivered_place places[PLACES_MOST];
    unsigned place_count;
    struct thread_whereabouts threads[THREADS_MOST];
    unsigned thread_count;
    struct comparison *comparison;
    uint64_t *claimed; /* positions of the undelivered signals, ascending */
    size_t claimed_count, claimed_room;
    uint64_t spent;
    bool given_up;
};

/* ---- wanted objects ---- */

/* Returns whether the run is complete. */
static bool undelivered_is_done(const struct run *run)
{
    return run->status.live ? run->status.finished : !run->file.unfinished;
}

static const struct target_event *undelivered_event_type_of(const struct run *run,
                                                            const struct order_event *e)
{
    return e->line && !(e->line & HIDDEN_LINE)
               ? run_event_type(run, e->line, e->type, (enum relation)e->relation)
               : NULL;
}

/* Returns whether a thread may have waited or resumed without a known event, or the run has too
 * many lines. */
static bool is_dark(const struct run *run)
{
    struct order_figures f = order_figures(run->order);
    return f.pending || f.lost || f.contradictions || f.damaged || untraced_reasons_some(run) ||
           untraced_reasons_lost(run) || order_line_count(run->order) > LINES_MOST;
}

static void note_signals(struct undelivered_signals *u, const struct layout_result *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct order_event e = order_event(u->order, p->events[i].position);
        const struct target_event *look =
            p->events[i].fold ? NULL : undelivered_event_type_of(u->run, &e);
        if (!look || !look->undelivered || !e.about || e.about > u->lines ||
            e.state != EVENT_ORDERED)
            continue;
        u->signals = array_reserve(u->signals, &u->room, u->count + 1, sizeof *u->signals);
        u->signals[u->count++] = p->events[i].position;
        u->wanted[e.about - 1] = 1;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void note_threads(struct undelivered_signals *u)
{
    for (uint32_t line = 1; line <= u->lines; line++) {
        if (order_thread_last(u->order, line) == NO_POSITION)
            continue;
        if (u->thread_count == THREADS_MOST) {
            u->given_up = true;
            return;
        }
        u->threads[u->thread_count++] = (struct thread_whereabouts){.line = line};
    }
}

struct undelivered_signals *undelivered_signals_begin(const struct run *run,
                                                      const struct layout_result *placement)
{
    if (is_dark(run))
        return NULL;
    struct undelivered_signals *u = xcalloc(1, sizeof *u);
    u->run = run;
    u->order = run->order;
    u->lines = order_line_count(run->order);
    u->wanted = xcalloc(u->lines + 1, 1);
    note_signals(u, placement);
    if (!u->count) {
        undelivered_signals_free(u);
        return NULL;
    }
    qsort(u->signals, u->count, sizeof *u->signals, by_value);
    uint64_t first = u->signals[0], last = u->signals[u->count - 1], all = order_count(u->order);
    u->end = u->from = all - last > AROUND ? last + AROUND : all;
    u->least = first - order_first(u->order) > AROUND ? first - AROUND : order_first(u->order);
    u->comparison = comparison_new(u->order);
    note_threads(u);
    return u;
}

void undelivered_signals_free(struct undelivered_signals *u)
{
    if (!u)
        return;
    comparison_free(u->comparison);
    free(u->signals);
    free(u->wanted);
    free(u->found);
    free(u->claimed);
    free(u);
}

/* ---- waits for wanted objects ---- */

static void note_place(struct undelivered_signals *u, uint32_t object, uint32_t line)
{
    for (unsigned i = 0; i < u->place_count; i++)
        if (u->places[i].object == object && u->places[i].line == line)
            return;
    if (u->place_count < PLACES_MOST)
        u->places[u->place_count++] = (struct undelivered_place){object, line};
    else
        u->given_up = true;
}

static void note_found(struct undelivered_signals *u, uint64_t position)
{
    struct order_event e = order_event(u->order, position);
    const struct target_event *look = undelivered_event_type_of(u->run, &e);
    if (!look || look->undelivered)
        return;
    if (look->waits)
        note_place(u, e.about, e.line);
    u->found = array_reserve(u->found, &u->found_room, u->found_count + 1, sizeof *u->found);
    u->found[u->found_count++] = (struct undelivered_found){position, e.about, e.line, look->waits};
}

static bool undelivered_scan_log(struct undelivered_signals *u, uint64_t *budget)
{
    while (u->from > u->least && *budget) {
        uint64_t end = u->from - u->least > 4000 ? u->from - 4000 : u->least, at = u->from;
        while ((at = order_about_before(u->order, at, end, u->wanted, u->lines)) != NO_POSITION) {
            note_found(u, at);
            *budget -= *budget > 0;
        }
        u->from = end;
        *budget -= *budget < 200 ? *budget : 200;
    }
    return u->from == u->least;
}

/* ---- whereabouts of threads ---- */

/* Returns the first event of a thread at or after a position if its own line has it nearby, else
 * the thread's last event. */
static uint64_t undelivered_next_event_of_thread(const struct undelivered_signals *u,
                                                 uint32_t thread, uint64_t position)
{
    uint64_t n = order_line_events(u->order, thread);
    uint64_t first = order_line_from(u->order, thread, position);
    for (uint64_t i = first; i < n && i < first + STEPS_MOST; i++) {
        uint64_t at = order_line_at(u->order, thread, i);
        if (at != NO_POSITION && order_event(u->order, at).thread == thread)
            return at;
    }
    return order_thread_last(u->order, thread);
}

/* Returns whether the event is certainly the first one of the thread. */
static bool is_first(const struct undelivered_signals *u, uint32_t thread, uint64_t position)
{
    struct order_event e = order_event(u->order, position);
    if (e.line != thread || order_line_first(u->order, thread) > 0)
        return false;
    uint64_t end = order_line_from(u->order, thread, position);
    for (uint64_t i = 0; i < end; i++) {
        uint64_t at = order_line_at(u->order, thread, i);
        if (i == STEPS_MOST || at == NO_POSITION || order_event(u->order, at).thread == thread)
            return false;
    }
    return true;
}

static void find_state(struct undelivered_signals *u, struct thread_whereabouts *s,
                       uint64_t position)
{
    s->known = false;
    s->after = NO_POSITION;
    s->before = undelivered_next_event_of_thread(u, s->line, position);
    for (unsigned i = 0; i < STEPS_MOST && s->before >= position; i++) {
        s->after = s->before;
        s->before = wait_start_previous(u->run, s->after);
        u->spent += 4;
        if (s->before == NO_POSITION) {
            s->known = is_first(u, s->line, s->after);
            return;
        }
    }
    s->known = s->before < position;
}

static bool is_current(const struct thread_whereabouts *s, uint64_t position)
{
    return s->known && (s->before == NO_POSITION || s->before < position) && s->after > position;
}

/* Returns whether any thread waits, or may wait, for the object at the signal's place in the
 * log. */
static bool undelivered_has_waiter(struct undelivered_signals *u, uint64_t position,
                                   const struct order_event *signal)
{
    for (unsigned i = 0; i < u->thread_count; i++) {
        struct thread_whereabouts *s = &u->threads[i];
        if (s->line == signal->thread)
            continue;
        if (!is_current(s, position))
            find_state(u, s, position);
        if (!s->known)
            return true;
        struct order_event e =
            s->before == NO_POSITION ? (struct order_event){0} : order_event(u->order, s->before);
        const struct target_event *look = undelivered_event_type_of(u->run, &e);
        if (look && look->waits && e.about == signal->about)
            return true;
    }
    return false;
}

/* ---- causal order: adjacent events of the log can be concurrent ---- */

static bool is_before(struct undelivered_signals *u, uint64_t a, uint64_t b)
{
    struct order_event x = order_event(u->order, a), y = order_event(u->order, b);
    comparison_begin(u->comparison, (struct event_id){x.line, x.number},
                     (struct event_id){y.line, y.number});
    u->spent += 200;
    return comparison_step(u->comparison, COMPARISON) &&
           comparison_answer(u->comparison) == ORDER_BEFORE;
}

/* Returns the index of the last found event before a position; they are in descending order. */
static size_t found_before(const struct undelivered_signals *u, uint64_t position)
{
    return LOWER_BOUND(i, 0, u->found_count, u->found[i].position >= position);
}

/* Returns whether the last wait on a line that ended before the signal, in the log, also ended
 * before it in the order. */
static bool ended_before(struct undelivered_signals *u, const struct undelivered_place *place,
                         uint64_t position)
{
    for (size_t i = found_before(u, position); i < u->found_count; i++) {
        const struct undelivered_found *f = &u->found[i];
        if (f->object == place->object && f->line == place->line && !f->waits)
            return is_before(u, f->position, position);
    }
    return u->least == 0;
}

/* Returns whether the next wait on a line, in the log, begins after the signal in the order,
 * too. */
static bool begins_after(struct undelivered_signals *u, const struct undelivered_place *place,
                         uint64_t position)
{
    for (size_t i = found_before(u, position); i > 0; i--) {
        const struct undelivered_found *f = &u->found[i - 1];
        if (f->object == place->object && f->line == place->line && f->waits)
            return is_before(u, position, f->position);
    }
    return undelivered_is_done(u->run) && u->end == order_count(u->order);
}

/* Returns whether every wait for the object ended before the signal or begins after it.  On the
 * signal's own line that holds for all events. */
static bool is_clear(struct undelivered_signals *u, uint64_t position,
                     const struct order_event *signal)
{
    unsigned places = 0;
    for (unsigned i = 0; i < u->place_count; i++) {
        const struct undelivered_place *place = &u->places[i];
        if (place->object != signal->about)
            continue;
        places++;
        if (place->line != signal->line &&
            (!ended_before(u, place, position) || !begins_after(u, place, position)))
            return false;
    }
    return places > 0 ||
           (u->least == 0 && u->end == order_count(u->order) && undelivered_is_done(u->run));
}

static void undelivered_check_signal(struct undelivered_signals *u, uint64_t position)
{
    struct order_event e = order_event(u->order, position);
    if (order_line_shared(u->order, e.line) || !is_clear(u, position, &e) ||
        undelivered_has_waiter(u, position, &e))
        return;
    u->claimed =
        array_reserve(u->claimed, &u->claimed_room, u->claimed_count + 1, sizeof *u->claimed);
    u->claimed[u->claimed_count++] = position;
}

bool undelivered_signals_step(struct undelivered_signals *u, uint64_t budget)
{
    if (!u || !undelivered_scan_log(u, &budget))
        return !u;
    for (uint64_t begun = u->spent; u->at < u->count && !u->given_up; u->at++) {
        if (u->spent - begun >= budget)
            return false;
        undelivered_check_signal(u, u->signals[u->at]);
        u->spent += u->thread_count / 8 + 1;
        u->given_up |= u->spent > ALL_MOST;
    }
    return true;
}

bool undelivered_signals_has(const struct undelivered_signals *u, uint64_t position)
{
    return u && bsearch(&position, u->claimed, u->claimed_count, sizeof *u->claimed, by_value);
}
