#include "server/queries/thread_state_timeline.h"

#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/queries/interval_cache.h"
#include "server/timing/cpu_states.h"
#include "server/run/run.h"
#include "wire/state_bands.h"

#include <stdlib.h>

struct living_progress { /* progress within one thread */
    struct cpu_state_walk spans;
    size_t items; /* number of intervals added */
    uint64_t position; /* position of the newest change */
    bool made, any, ended;
    bool tail; /* the newest change is provisional: the next one replaces it */
};

struct thread_state_source {
    const struct run *run;
    struct living_progress *threads; /* by thread index */
    size_t room;
    bool cycle; /* a pass over all threads has begun; the next one is `thread` */
    uint32_t thread;
    uint64_t known;
    struct wait_record *open; /* sorted by thread */
    size_t open_count;
};

static void *state_timeline_begin(const struct run *run)
{
    struct thread_state_source *l = xcalloc(1, sizeof *l);
    l->run = run;
    return l;
}

static void state_timeline_drop(void *state)
{
    struct thread_state_source *l = state;
    free(l->threads);
    free(l->open);
    free(l);
}

/* Returns a number that changes when the timeline must start again: when the intervals were
 * computed again, and when the last program has exited, as all CPU times are known then. */
static uint64_t state_timeline_generation(const struct run *run)
{
    return 2 * interval_cache_generation(run) +
           (cpu_placement_states(run) && !run->programs.connected);
}

/* ---- changes ---- */

struct living_output {
    struct summary_tree *pyramid;
    const struct thread_timeline *course;
    struct living_progress *progress;
    const struct lifetimes *lives;
    /* Intervals that end later are not added yet: their CPU times are not known. */
    int64_t until_ns;
};

/* Adds a change of state.  Its position is greater than that of the previous change, unless it
 * replaces a provisional one. */
static void state_timeline_add_change(const struct living_output *t, unsigned code, uint32_t about,
                                      int64_t ns, uint64_t position)
{
    struct living_progress *progress = t->progress;
    if (progress->any && !progress->tail && position <= progress->position)
        position = progress->position + 1;
    if (progress->any && progress->tail)
        position = progress->position;
    summary_tree_change(t->pyramid, t->course->thread, (struct summary_state){about, (uint8_t)code},
                        ns, position);
    progress->position = position;
    progress->any = true;
    progress->tail = false;
}

/* Adds the state "created" once its duration is known (server/timing/thread_states.h). */
static void state_timeline_report_created(const struct living_output *t)
{
    const struct thread_timeline *c = t->course;
    int64_t began = c->start_ns != INTERVALS_NEVER ? c->start_ns : c->end_ns;
    if (t->progress->made || (began == INTERVALS_NEVER && c->closed_ns == INTERVALS_NEVER))
        return;
    if (c->made_ns != INTERVALS_NEVER && (began == INTERVALS_NEVER || c->made_ns < began))
        state_timeline_add_change(t, BAND_LIVING_START, 0, c->made_ns, c->made);
    t->progress->made = true;
}

static const struct wait_record *wait_of(const struct intervals *all, const struct interval *item)
{
    return &all->waits[item->is == INTERVAL_SEGMENT ? all->segments[item->of].wait : item->of];
}

/* Returns the code of a wait that another thread ends, as it can with a timeout, too. */
static unsigned blocked_as(unsigned class)
{
    return class == WAIT_CONTENTION ? BAND_LIVING_EXCLUSION : BAND_LIVING_MEETING;
}

static unsigned code_of(const struct intervals *all, const struct interval *item)
{
    static const uint8_t codes[] = {[INTERVAL_RUNS] = BAND_LIVING_RUNNING,
                                    [INTERVAL_LATENCY] = BAND_LIVING_READY,
                                    [INTERVAL_TIMEOUT] = BAND_LIVING_TIMER,
                                    [INTERVAL_UNATTRIBUTED] = BAND_LIVING_UNKNOWN};
    return item->is == INTERVAL_SEGMENT ? blocked_as(wait_of(all, item)->class) : codes[item->is];
}

/* A running interval, divided by CPU states.  Within it positions are proportional to times. */
struct living_cpu_change {
    const struct living_output *telling;
    int64_t from_ns, to_ns;
    uint64_t position, until; /* positions of the ends of the interval */
    const struct wait_record *wait; /* a request; NULL: it is not a wait */
    unsigned waits;                 /* its state while the task is on no worker thread */
};

static uint64_t position_at(const struct living_cpu_change *t, int64_t ns)
{
    double share = (double)(ns - t->from_ns) / (double)(t->to_ns - t->from_ns);
    if (t->position == NO_POSITION || t->until == NO_POSITION || t->until <= t->position + 1)
        return t->position;
    return t->position + (uint64_t)((double)(t->until - 1 - t->position) * share);
}

static void state_timeline_on_cpu_state(void *context, enum cpu_state is, int64_t from_ns,
                                        int64_t to_ns)
{
    static const uint8_t codes[] = {[CPU_STATE_RUNNING] = BAND_LIVING_RUNNING,
                                    [CPU_STATE_RUNNABLE] = BAND_LIVING_READY,
                                    [CPU_STATE_OTHER] = BAND_LIVING_SYSTEM};
    const struct living_cpu_change *at = context;
    const struct living_output *t = at->telling;
    bool waits = at->wait && is != CPU_STATE_RUNNING;
    struct summary_state state = {waits ? at->wait->about : 0,
                                  waits ? (uint8_t)at->waits : codes[is]};
    (void)to_ns;
    if (from_ns == at->from_ns) {
        state_timeline_add_change(t, state.code, state.about, from_ns, at->position);
        return;
    }
    uint64_t position = position_at(at, from_ns);
    t->progress->position = position > t->progress->position ? position : t->progress->position;
    summary_tree_set_cpu_state(t->pyramid, t->course->thread, state, from_ns,
                               t->progress->position);
}

static void state_timeline_report_interval(const struct living_output *t,
                                           const struct intervals *all, size_t i)
{
    const struct thread_timeline *c = t->course;
    const struct interval *item = &c->items[i];
    int64_t from = interval_begin(c, i);
    struct living_cpu_change turning = {
        t, from, item->to_ns, i ? c->items[i - 1].position : c->start, item->position, NULL, 0};
    if (item->is != INTERVAL_RUNS && thread_states_request_runs(t->lives, c, item)) {
        turning.wait = wait_of(all, item);
        turning.waits = code_of(all, item);
    }
    if ((item->is == INTERVAL_RUNS || turning.wait) && item->to_ns > from) {
        cpu_states_visit(t->lives->spans, c, &t->progress->spans, from, item->to_ns,
                         state_timeline_on_cpu_state, &turning);
        return;
    }
    /* (An interval in which the thread ran has length 0 here.) */
    const struct wait_record *wait = item->is == INTERVAL_RUNS ? NULL : wait_of(all, item);
    uint64_t position = i ? c->items[i - 1].position : c->start;
    if (wait && !wait->type && wait->from_ns == from) /* no event is at the begin of the wait */
        position = wait->begin;
    if (item->to_ns > from)
        state_timeline_add_change(t, code_of(all, item), wait ? wait->about : 0, from, position);
}

/* ---- the last known state ---- */

static int by_thread(const void *a, const void *b)
{
    uint32_t x = ((const struct wait_record *)a)->thread,
             y = ((const struct wait_record *)b)->thread;
    return x < y ? -1 : x > y;
}

static void state_timeline_add_tail(const struct living_output *t, unsigned code, uint32_t about,
                                    int64_t ns, uint64_t at)
{
    state_timeline_add_change(t, code, about, ns, at);
    t->progress->tail = true;
}

static const struct wait_record *open_wait(const struct thread_state_source *l, uint32_t thread)
{
    struct wait_record key = {.thread = thread};
    return l->open_count ? bsearch(&key, l->open, l->open_count, sizeof key, by_thread) : NULL;
}

/* Reports a thread without a recorded begin: its end or its join can be known. */
static void state_timeline_report_not_started(const struct living_output *t)
{
    const struct thread_timeline *c = t->course;
    if (c->closed_ns == INTERVALS_NEVER && c->end_ns != INTERVALS_NEVER)
        state_timeline_add_tail(t, SUMMARY_TREE_NONE, 0, c->end_ns, c->end);
    if (c->closed_ns == INTERVALS_NEVER)
        return;
    t->progress->ended = true;
    if (c->end_ns != INTERVALS_NEVER && c->end_ns < c->closed_ns)
        state_timeline_add_change(t, BAND_LIVING_TERMINATE, 0, c->end_ns, c->end);
    state_timeline_add_tail(t, SUMMARY_TREE_NONE, 0, c->closed_ns, c->closed);
}

/* Adds the states after the last event of a thread without an exit; returns the time up to which
 * anything is known of it. */
static int64_t state_timeline_report_cpu_states(const struct living_output *t, int64_t at_ns,
                                                uint64_t at)
{
    int64_t until = thread_states_alive_until(t->lives, t->course);
    struct living_cpu_change turning = {t, at_ns, until, at, at, NULL, 0};
    if (until <= at_ns)
        return at_ns;
    cpu_states_visit(t->lives->spans, t->course, &t->progress->spans, at_ns, until,
                     state_timeline_on_cpu_state, &turning);
    t->progress->ended = true;
    return until;
}

/* Reports what follows the last interval: the thread still waits, or it exited and was joined,
 * or nothing more is known of it. */
static void state_timeline_report_tail(const struct thread_state_source *l,
                                       const struct living_output *t)
{
    const struct thread_timeline *c = t->course;
    const struct interval *last = c->count ? &c->items[c->count - 1] : NULL;
    int64_t at_ns = last ? last->to_ns : c->start_ns;
    uint64_t at = last ? last->position : c->start;
    const struct wait_record *open = open_wait(l, c->thread);
    if (t->progress->ended)
        return;
    if (c->start_ns == INTERVALS_NEVER) {
        state_timeline_report_not_started(t);
        return;
    }
    if (t->progress->items < c->count) {
        const struct interval *latest =
            t->progress->items ? &c->items[t->progress->items - 1] : NULL;
        state_timeline_add_tail(t, BAND_LIVING_RUNNING, 0, latest ? latest->to_ns : c->start_ns,
                                latest ? latest->position : c->start);
        return;
    }
    if (open && open->unexplained == UNATTRIBUTED_DELETED) {
        t->progress->ended = true;
        state_timeline_add_change(t, blocked_as(open->class), open->about, open->from_ns,
                                  open->begin);
        state_timeline_add_tail(t, SUMMARY_TREE_NONE, 0, open->to_ns, c->closed);
        return;
    }
    if (open && open->from_ns >= at_ns) {
        state_timeline_add_tail(t, blocked_as(open->class), open->about, open->from_ns,
                                open->begin);
        return;
    }
    if (c->closed_ns != INTERVALS_NEVER) {
        t->progress->ended = true;
        if (c->end_ns > at_ns)
            state_timeline_add_change(t, BAND_LIVING_RUNNING, 0, at_ns, at);
        at = c->end_ns > at_ns ? c->end : at;
        at_ns = c->end_ns > at_ns ? c->end_ns : at_ns;
        state_timeline_add_change(t, BAND_LIVING_TERMINATE, 0, at_ns, at);
        at_ns = c->closed_ns > at_ns ? c->closed_ns : at_ns;
        at = c->closed;
    }
    if (!l->run->programs.connected) /* (before that, more events can come) */
        at_ns = state_timeline_report_cpu_states(t, at_ns, at);
    state_timeline_add_tail(t, SUMMARY_TREE_NONE, 0, at_ns, at);
}

/* ---- pass over the threads ---- */

#define SAMPLED_NS 300000000 /* samples of this age have arrived, if there are any */

static int64_t known_until(const struct run *run, const struct thread_timeline *c)
{
    const struct cpu_states *states = cpu_placement_states(run);
    if (!states || !run->programs.connected)
        return INT64_MAX;
    int64_t known = cpu_states_known_ns(states, c->thread),
            old = run_clock_now_ns(&run->clock) - SAMPLED_NS;
    return known > old ? known : old;
}

/* Returns whether a line is that of a thread: that of a scheduler, say, acts and has no states. */
static bool state_timeline_is_thread(const struct run *run, uint32_t line)
{
    const struct target_line_type *kind = run_line_type(run, order_line_kind(run->order, line));
    return !kind || kind->threads;
}

/* Returns true once all known intervals of the current thread are added. */
static bool state_timeline_report_thread(struct thread_state_source *l,
                                         struct summary_tree *pyramid, uint64_t *budget)
{
    const struct intervals *all = interval_cache_get(l->run);
    const struct thread_timeline *c = &all->threads[l->thread];
    struct lifetimes lives = interval_cache_lifetimes(l->run);
    struct living_output t = {pyramid, c, &l->threads[l->thread], &lives, known_until(l->run, c)};
    if (!state_timeline_is_thread(l->run, c->thread))
        return true;
    state_timeline_report_created(&t);
    for (; t.progress->items < c->count && c->items[t.progress->items].to_ns <= t.until_ns;
         t.progress->items++, --*budget) {
        if (!*budget)
            return false;
        state_timeline_report_interval(&t, all, t.progress->items);
    }
    state_timeline_report_tail(l, &t);
    return true;
}

static void begin_cycle(struct thread_state_source *l)
{
    uint32_t count = interval_cache_get(l->run)->thread_count;
    l->threads = array_reserve_zeroed(l->threads, &l->room, count, sizeof *l->threads);
    free(l->open);
    l->open_count = interval_cache_open(l->run, &l->open);
    if (l->open_count)
        qsort(l->open, l->open_count, sizeof *l->open, by_thread);
    l->known = interval_cache_position(l->run);
    l->thread = 0;
    l->cycle = true;
}

static uint64_t state_timeline_build(void *state, struct summary_tree *pyramid, uint64_t known,
                                     uint64_t *budget)
{
    struct thread_state_source *l = state;
    uint64_t again = interval_cache_generation(l->run);
    if (!l->cycle && !interval_cache_step(l->run, budget)) {
        *budget = interval_cache_full(l->run) ? 0 : *budget;
        return known;
    }
    if (again != interval_cache_generation(l->run)) { /* (the timeline is restarted, too) */
        *budget = 0;
        return known;
    }
    if (!l->cycle)
        begin_cycle(l);
    uint32_t count = interval_cache_get(l->run)->thread_count;
    for (count = count < l->room ? count : (uint32_t)l->room; l->thread < count; l->thread++) {
        if (!*budget || !state_timeline_report_thread(l, pyramid, budget))
            return known;
        *budget -= *budget > 0;
    }
    l->cycle = false;
    return l->known;
}

const struct timeline_callbacks thread_state_source = {.begin = state_timeline_begin,
                                                       .free = state_timeline_drop,
                                                       .made = state_timeline_generation,
                                                       .learn = state_timeline_build};
