#include "server/timing/cpu_state_index.h"

#include "base/alloc.h"
#include "base/extremes.h"
#include "base/lower_bound.h"

#include <stdlib.h>
#include <string.h>

/* Reader of CPU states: splits the time in which a thread ran, by the best source. */

const struct placements *cpu_states_tasks(const struct cpu_states *spans)
{
    return spans ? spans->placements : NULL;
}

bool cpu_states_is_placed_task(const struct cpu_states *spans, uint32_t line)
{
    size_t count;
    return placements_for_task(cpu_states_tasks(spans), line, &count) != NULL;
}

bool cpu_states_cpus(const struct cpu_states *spans) { return spans && spans->cpus; }

static enum cpu_state_source source_of(const struct cpu_states *spans, uint32_t line,
                                       enum cpu_state_source most)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    most = most == CPU_SOURCE_ORDER ? CPU_SOURCE_SWITCHES : most;
    if (most >= CPU_SOURCE_SWITCHES && cpu_states_is_placed_task(spans, line))
        return CPU_SOURCE_SWITCHES;
    if (!t)
        return CPU_SOURCE_ORDER;
    if (t->turns.count && most >= CPU_SOURCE_SWITCHES)
        return CPU_SOURCE_SWITCHES;
    if (t->clocks.count && most >= CPU_SOURCE_CLOCK)
        return CPU_SOURCE_CLOCK;
    return t->samples.count ? CPU_SOURCE_SAMPLES : CPU_SOURCE_ORDER;
}

enum cpu_state_source cpu_states_best(const struct cpu_states *spans, uint32_t line,
                                      enum cpu_state_source most)
{
    return source_of(spans, line, most);
}

int64_t cpu_states_sample_gap_ns(const struct cpu_states *spans, uint32_t line, int64_t from_ns,
                                 int64_t to_ns)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    int64_t apart = 0;
    const struct cpu_sample *s = t ? t->samples.items : NULL;
    for (size_t i = 1; t && i < t->samples.count; i++)
        if (s[i].at_ns > from_ns && s[i - 1].at_ns < to_ns && s[i].ran_ns > s[i - 1].ran_ns)
            apart = int64_max(apart, s[i].at_ns - s[i - 1].at_ns);
    return apart;
}

const char *cpu_states_missing_reason(const struct cpu_states *spans)
{
    return spans ? spans->why : NULL;
}

uint64_t cpu_states_max_switches(const struct cpu_states *spans) { return spans ? spans->most : 0; }

uint64_t cpu_states_lost_count(const struct cpu_states *spans) { return spans ? spans->lost : 0; }

#define DYING 10 /* minimum ratio of a last sleep to the time from its end to the exit */

#define DYING_TURNS 8u

/* Returns the sleep after which the thread got a CPU only to exit; NULL if there is none. */
static const struct cpu_turn *sleep_until_end(const struct cpu_turns *t, int64_t end_ns)
{
    for (size_t i = t->count, n = 0; i-- > 1 && n < DYING_TURNS && end_ns; n++) {
        const struct cpu_turn *woken = &t->items[i], *asleep = woken - 1;
        if (woken->what == SWITCH_LOST)
            return NULL;
        if (asleep->what == SWITCH_ASLEEP &&
            (woken->at_ns - asleep->at_ns) / DYING >= end_ns - woken->at_ns)
            return asleep;
    }
    return NULL;
}

/* Uses sampling from outside, if no context switch is known.  Returns whether it last found the
 * thread asleep. */
static bool seen_asleep(const struct cpu_state_thread *t, int64_t *since_ns, uint64_t *call)
{
    *since_ns = t ? t->asleep_ns : 0;
    *call = t && !t->awake ? t->asleep : SLEEP_IN_NOT;
    return *call != SLEEP_IN_NOT;
}

bool cpu_states_asleep(const struct cpu_states *spans, uint32_t line, int64_t end_ns,
                       int64_t *since_ns, uint64_t *call)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    if (!t || !t->turns.count)
        return seen_asleep(t, since_ns, call);
    const struct cpu_turn *last = &t->turns.items[t->turns.count - 1];
    const struct cpu_turn *whole = sleep_until_end(&t->turns, end_ns);
    last = whole ? whole : last;
    *since_ns = last->at_ns;
    *call = t->asleep_ns >= *since_ns ? t->asleep : SLEEP_IN_NOT;
    return last->what == SWITCH_ASLEEP;
}

uint64_t cpu_states_futex(const struct cpu_states *spans, uint32_t line, enum usage_futex_fact fact)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    return t ? t->futex[fact - USAGE_FUTEX_SITE] : 0;
}

uint32_t cpu_states_lock_holder(const struct cpu_states *spans, uint32_t line, int64_t end_ns,
                                int64_t *since_ns, int64_t *held_ns)
{
    uint64_t call, holders_call;
    int64_t holder_ns;
    bool asleep = cpu_states_asleep(spans, line, end_ns, since_ns, &call) &&
                  SLEEP_VALUE_CALL(call) == SLEEP_IN_LOADER;
    const struct cpu_state_thread *t = asleep ? cpu_states_thread(spans, line) : NULL;
    if (!t || !t->lock_holder || t->held_ns < *since_ns)
        return 0;
    *held_ns = t->held_ns;
    bool still = cpu_states_asleep(spans, t->lock_holder, end_ns, &holder_ns, &holders_call) &&
                 holder_ns <= t->held_ns;
    return still ? t->lock_holder : 0;
}

int64_t cpu_states_seen_asleep_ns(const struct cpu_states *spans, uint32_t line, int64_t end_ns)
{
    int64_t since_ns;
    uint64_t call;
    bool seen = cpu_states_asleep(spans, line, end_ns, &since_ns, &call) && call != SLEEP_IN_NOT;
    return seen ? cpu_states_thread(spans, line)->asleep_ns : INT64_MIN;
}

int64_t cpu_states_known_ns(const struct cpu_states *spans, uint32_t line)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    switch (cpu_states_best(spans, line, CPU_SOURCE_ORDER)) {
    case CPU_SOURCE_SWITCHES:
        return cpu_states_is_placed_task(spans, line) ? INT64_MAX
                                                      : t->turns.items[t->turns.count - 1].at_ns;
    case CPU_SOURCE_CLOCK:
        return t->clocks.items[t->clocks.count - 1].at_ns;
    case CPU_SOURCE_SAMPLES:
        return t->ended ? INT64_MAX : t->samples.items[t->samples.count - 1].at_ns;
    default:
        return INT64_MAX;
    }
}

int64_t cpu_states_last_ns(const struct cpu_states *spans, uint32_t line)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    int64_t last = INTERVALS_NEVER;
    if (!t || cpu_states_is_placed_task(spans, line))
        return last;
    if (t->turns.count)
        last = t->turns.items[t->turns.count - 1].at_ns;
    if (t->samples.count)
        last = int64_max(last, t->samples.items[t->samples.count - 1].at_ns);
    return last;
}

/* ---- context switches ---- */

int64_t cpu_states_displaced_ns(const struct cpu_states *spans, const struct intervals *all,
                                uint32_t line, int64_t from_ns, int64_t to_ns, int64_t least_ns,
                                uint32_t *by)
{
    const struct cpu_state_thread *t = spans && spans->cpus ? cpu_states_thread(spans, line) : NULL;
    int64_t most = 0;
    if (!t || cpu_turns_preempted_ns(&t->turns, from_ns, to_ns) < least_ns)
        return 0;
    for (uint32_t i = 0; i < all->thread_count; i++) {
        uint32_t other = all->threads[i].thread;
        const struct cpu_state_thread *o = cpu_states_thread(spans, other);
        int64_t ns =
            o && other != line ? cpu_turns_displaced_ns(&t->turns, &o->turns, from_ns, to_ns) : 0;
        if (ns >= least_ns && ns > most) {
            most = ns;
            *by = other;
        }
    }
    return most;
}

/* ---- placements ---- */

struct cpu_state_placement {
    struct cpu_state_walk *walk;
    struct cpu_state_visitor v;
};

static void cpu_states_on_placement(void *context, uint32_t on, uint32_t left, int64_t from_ns,
                                    int64_t to_ns)
{
    struct cpu_state_placement *s = context;
    s->walk->on = on;
    s->walk->left = left;
    s->v.visit(s->v.context, on ? CPU_STATE_RUNNING : CPU_STATE_RUNNABLE, from_ns, to_ns);
}

/* Visits the states of a task by its placements, as cpu_turns_visit() does by switches. */
static void cpu_states_visit_placements(const struct placements *all, uint32_t task,
                                        struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                                        struct cpu_state_visitor v)
{
    size_t count;
    const struct placement_interval *items = placements_for_task(all, task, &count);
    struct cpu_state_placement staying = {walk, v};
    walk->placed = true;
    placements_visit(items, count, &walk->near, from_ns, to_ns, cpu_states_on_placement, &staying);
}

/* ---- samples ---- */

size_t cpu_states_sample_after(const struct cpu_samples *s, int64_t at_ns)
{
    return LOWER_BOUND(i, 0, s->count, s->items[i].at_ns <= at_ns);
}

/* Returns the accumulated runnable time, interpolated linearly between two samples. */
static int64_t ready_by(const struct cpu_samples *s, int64_t at_ns)
{
    size_t next = cpu_states_sample_after(s, at_ns);
    if (!s->count || next == s->count)
        return s->count ? s->items[s->count - 1].ready_ns : 0;
    struct cpu_sample to = s->items[next], from = next ? s->items[next - 1] : to;
    if (!next)
        return 0;
    double share = (double)(at_ns - from.at_ns) / (double)(to.at_ns - from.at_ns);
    return from.ready_ns + (int64_t)(share * (double)(to.ready_ns - from.ready_ns));
}

/* A thread, with the values that are read: its samples, or its CPU clock. */
struct sampled_thread_state {
    struct cpu_state_thread *t;
    const struct cpu_samples *samples;
    const struct thread_timeline *course;
};

/* Slice of time between two samples: active_ns by the order, running and runnable time by the
 * samples; their excess (over) does not fit into active_ns. */
struct sample_slice {
    int64_t from_ns, to_ns, active_ns, ran_ns, ready_ns, ran_over_ns, ready_over_ns;
    bool unknown; /* nothing is known of it */
};

static int64_t cpu_states_overlap_ns(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return int64_max(0, int64_min(b, d) - int64_max(a, c));
}

/* Returns the time between two times in which the thread ran according to the order; after its last
 * interval it ran until its exit, if it has one. */
static int64_t cpu_states_active_ns(const struct thread_timeline *c, int64_t from_ns, int64_t to_ns)
{
    int64_t last_ns = c->count ? c->items[c->count - 1].to_ns : c->start_ns,
            end_ns = c->end_ns == INTERVALS_NEVER ? INT64_MAX : c->end_ns,
            all = cpu_states_overlap_ns(last_ns, end_ns, from_ns, to_ns);
    for (size_t i = intervals_at(c, from_ns); i < c->count && interval_begin(c, i) < to_ns; i++)
        if (c->items[i].is == INTERVAL_RUNS)
            all += cpu_states_overlap_ns(interval_begin(c, i), c->items[i].to_ns, from_ns, to_ns);
    return all;
}

/* Returns what it ran before the slice that ends with a sample. */
static int64_t cpu_states_ran_before_slice(const struct sampled_thread_state *of, size_t index)
{
    if (index)
        return of->samples->items[index - 1].ran_ns;
    return of->samples == &of->t->samples ? of->t->before_ns : 0;
}

/* Returns the end of the slice that ends with a sample; that of a thread's exit is the last, and
 * has no end. */
static int64_t cpu_states_slice_end(const struct sampled_thread_state *of, size_t index)
{
    bool last = of->samples == &of->t->samples && of->t->ended && index + 1 == of->samples->count;
    return last ? INT64_MAX : of->samples->items[index].at_ns;
}

/* Returns the index of the slice that contains a time, or the count if none does. */
static size_t cpu_states_slice_index(const struct sampled_thread_state *of, int64_t at_ns)
{
    size_t i = cpu_states_sample_after(of->samples, at_ns);
    return i && i == of->samples->count && cpu_states_slice_end(of, i - 1) > at_ns ? i - 1 : i;
}

/* Reads the running and runnable time of the slice that ends with a sample. */
static void cpu_states_read_sample(const struct sampled_thread_state *of, size_t index,
                                   struct sample_slice *h)
{
    const struct cpu_sample *to = &of->samples->items[index], *from = index ? to - 1 : NULL;
    h->ran_ns = int64_max(to->ran_ns - cpu_states_ran_before_slice(of, index), 0);
    h->ready_ns = of->samples == &of->t->clocks
                      ? ready_by(&of->t->samples, h->to_ns) - ready_by(&of->t->samples, h->from_ns)
                      : to->ready_ns - (from ? from->ready_ns : 0);
}

/* Returns the slice that ends with a sample; that of sample 0 begins with the thread. */
static struct sample_slice cpu_states_sample_slice(const struct sampled_thread_state *of,
                                                   size_t index)
{
    const struct thread_timeline *c = of->course;
    const struct cpu_sample *to = &of->samples->items[index];
    struct sample_slice h = {.from_ns = index ? to[-1].at_ns : c->start_ns,
                             .to_ns = cpu_states_slice_end(of, index)};
    int64_t latency = 0; /* the order already counts it as runnable */
    h.active_ns = cpu_states_active_ns(c, h.from_ns, h.to_ns);
    for (size_t i = intervals_at(c, h.from_ns); i < c->count && interval_begin(c, i) < h.to_ns; i++)
        if (c->items[i].is == INTERVAL_LATENCY)
            latency +=
                cpu_states_overlap_ns(interval_begin(c, i), c->items[i].to_ns, h.from_ns, h.to_ns);
    cpu_states_read_sample(of, index, &h);
    /* (a thread that ran for longer than since its first event also ran before it) */
    h.unknown = to->unknown_before || (!index && h.ran_ns > to->at_ns - h.from_ns);
    int64_t ran = h.unknown ? h.active_ns : h.ran_ns, ready = int64_max(h.ready_ns - latency, 0);
    h.ran_ns = int64_min(ran, h.active_ns);
    h.ready_ns = int64_min(ready, h.active_ns - h.ran_ns);
    h.ran_over_ns = ran - h.ran_ns;
    h.ready_over_ns = ready - h.ready_ns;
    return h;
}

/* Returns how well the states of a slice are known: by the clock exactly, if there is but one. */
static enum cpu_state_accuracy accuracy_of(const struct sampled_thread_state *of,
                                           const struct sample_slice *h)
{
    if (h->unknown)
        return CPU_STATE_ESTIMATE;
    bool one = h->ran_ns == h->active_ns || !h->ran_ns;
    return one && of->samples == &of->t->clocks ? CPU_STATE_EXACT : CPU_STATE_SHARE;
}

/* Moves as much of the excess of other slices into a slice as fits. */
static void cpu_states_move_excess(struct sample_slice *h, struct sample_share *over)
{
    int64_t ran = int64_min(over->ran_ns, h->active_ns - h->ran_ns - h->ready_ns),
            ready = int64_min(over->ready_ns, h->active_ns - h->ran_ns - h->ready_ns - ran);
    h->ran_ns += ran;
    h->ready_ns += ready;
    over->ran_ns -= ran;
    over->ready_ns -= ready;
}

/* What the shares of a thread's samples were computed from. */
static struct sample_basis basis_of(const struct sampled_thread_state *of)
{
    const struct thread_timeline *c = of->course;
    const struct cpu_sample *last = &of->samples->items[of->samples->count - 1];
    return (struct sample_basis){.samples = of->samples->count,
                                 .items = c->items,
                                 .count = c->count,
                                 .start_ns = c->start_ns,
                                 .end_ns = c->end_ns,
                                 .to_ns = c->count ? c->items[c->count - 1].to_ns : c->start_ns,
                                 .last_ns = last->at_ns,
                                 .last_ran_ns = last->ran_ns,
                                 .last_ready_ns = last->ready_ns};
}

/* Computes the shares of all samples.  Counters are late: the CPU time by up to a tick, and
 * runnable time is counted when it ends; and a sampler that loses its CPU between reading the clock
 * and the counters is early.  So excess moves to earlier slices that have room, what remains to
 * later ones. */
static void cpu_states_compute_shares(const struct sampled_thread_state *of)
{
    struct cpu_state_thread *t = of->t;
    size_t count = of->samples->count;
    struct sample_basis basis = basis_of(of);
    struct sample_share over = {0};
    if (t->shares && memcmp(&t->basis, &basis, sizeof basis) == 0)
        return;
    struct sample_slice *slices = xcalloc(count, sizeof *slices);
    t->basis = basis;
    free(t->shares);
    t->shares = xcalloc(count, sizeof *t->shares);
    for (size_t i = count; i-- > 0;) {
        slices[i] = cpu_states_sample_slice(of, i);
        cpu_states_move_excess(&slices[i], &over);
        over.ran_ns += slices[i].ran_over_ns;
        over.ready_ns += slices[i].ready_over_ns;
    }
    for (size_t i = 0; i < count; i++) {
        cpu_states_move_excess(&slices[i], &over);
        t->shares[i] = (struct sample_share){slices[i].ran_ns, slices[i].ready_ns};
    }
    free(slices);
}

static struct spans_slice slice_at(const struct sampled_thread_state *of, size_t index)
{
    struct sample_slice h = cpu_states_sample_slice(of, index);
    if (of->samples == &of->t->samples) {
        cpu_states_compute_shares(of);
        h.ran_ns = of->t->shares[index].ran_ns;
        h.ready_ns = of->t->shares[index].ready_ns;
    }
    return (struct spans_slice){.index = index,
                                .from_ns = h.from_ns,
                                .to_ns = h.to_ns,
                                .ran_ns = h.ran_ns,
                                .ready_ns = h.ready_ns,
                                .at_ns = h.from_ns,
                                .accuracy = accuracy_of(of, &h)};
}

static void cpu_states_read_slice(const struct sampled_thread_state *of,
                                  struct cpu_state_walk *walk, size_t index, int64_t at_ns)
{
    struct spans_slice *s = &walk->slice;
    if (!walk->has || s->index != index || s->at_ns > at_ns)
        *s = slice_at(of, index);
    walk->has = true;
    s->passed_ns += cpu_states_active_ns(of->course, s->at_ns, at_ns);
    s->at_ns = at_ns;
}

/* Visits a part of a slice in which the thread ran according to the order: running first, then
 * runnable, then other. */
static void visit_part(struct spans_slice *s, int64_t to_ns, struct cpu_state_visitor v)
{
    int64_t ends[] = {s->ran_ns, s->ran_ns + s->ready_ns, INT64_MAX};
    for (unsigned is = CPU_STATE_RUNNING; is <= CPU_STATE_OTHER && s->at_ns < to_ns; is++) {
        int64_t took = int64_min(ends[is] - s->passed_ns, to_ns - s->at_ns);
        if (took <= 0)
            continue;
        v.visit(v.context, (enum cpu_state)is, s->at_ns, s->at_ns + took);
        s->at_ns += took;
        s->passed_ns += took;
    }
}

static void visit_samples(const struct sampled_thread_state *of, struct cpu_state_walk *walk,
                          int64_t from_ns, int64_t to_ns, struct cpu_state_visitor v)
{
    bool same = walk->has && walk->slice.from_ns <= from_ns && from_ns < walk->slice.to_ns;
    size_t index = same ? walk->slice.index : cpu_states_slice_index(of, from_ns);
    for (; index < of->samples->count && from_ns < to_ns; index++) {
        int64_t until = int64_min(cpu_states_slice_end(of, index), to_ns);
        cpu_states_read_slice(of, walk, index, from_ns);
        walk->accuracy = walk->slice.accuracy;
        visit_part(&walk->slice, until, v);
        from_ns = until;
    }
    walk->accuracy = CPU_STATE_ESTIMATE;
    if (from_ns < to_ns) /* after the last sample nothing better is known */
        v.visit(v.context, CPU_STATE_RUNNING, from_ns, to_ns);
}

bool cpu_states_delays(const struct cpu_states *spans, uint32_t line)
{
    const struct cpu_state_thread *t = cpu_states_thread(spans, line);
    return t && t->samples.count;
}

int64_t cpu_states_uncertainty_ns(const struct cpu_states *spans, const struct thread_timeline *c,
                                  int64_t from_ns, int64_t to_ns)
{
    struct cpu_state_thread *t = cpu_states_thread(spans, c->thread);
    int64_t astray = 0;
    if (!t)
        return 0;
    struct sampled_thread_state of = {t, &t->clocks, c};
    for (size_t i = cpu_states_sample_after(of.samples, from_ns);
         i < of.samples->count && (!i || of.samples->items[i - 1].at_ns < to_ns); i++) {
        struct sample_slice h = cpu_states_sample_slice(&of, i);
        astray = int64_max(astray, int64_min(h.ran_ns, h.active_ns - h.ran_ns));
    }
    return astray;
}

/* ---- all sources ---- */

void cpu_states_visit(const struct cpu_states *spans, const struct thread_timeline *course,
                      struct cpu_state_walk *walk, int64_t from_ns, int64_t to_ns,
                      void (*visit)(void *context, enum cpu_state is, int64_t from_ns,
                                    int64_t to_ns),
                      void *context)
{
    struct cpu_state_thread *t = cpu_states_thread(spans, course->thread);
    struct cpu_state_visitor v = {visit, context};
    walk->on = 0;
    walk->accuracy = CPU_STATE_EXACT;
    switch (source_of(spans, course->thread, walk->most)) {
    case CPU_SOURCE_SWITCHES:
        if (cpu_states_is_placed_task(spans, course->thread))
            cpu_states_visit_placements(spans->placements, course->thread, walk, from_ns, to_ns, v);
        else
            cpu_turns_visit(&t->turns, walk, from_ns, to_ns, v);
        walk->on = 0;
        break;
    case CPU_SOURCE_CLOCK:
        visit_samples(&(struct sampled_thread_state){t, &t->clocks, course}, walk, from_ns, to_ns,
                      v);
        break;
    case CPU_SOURCE_SAMPLES:
        visit_samples(&(struct sampled_thread_state){t, &t->samples, course}, walk, from_ns, to_ns,
                      v);
        break;
    default:
        walk->accuracy = CPU_STATE_ESTIMATE;
        visit(context, CPU_STATE_RUNNING, from_ns, to_ns);
    }
}
