#include "server/timing/thread_levels.h"

#include "base/alloc.h"
#include "base/extremes.h"

#include <stdlib.h>

#define SLICE_INTERVALS 8192u /* about that many intervals are in memory at once */

const struct thread_level_words thread_level_words[THREAD_LEVELS] = {
    [LEVEL_RUNNING] = {"running", "running", "running_ns", false},
    [LEVEL_RUNNABLE] = {"runnable", "runnable", "runnable_ns", false},
    [LEVEL_BLOCKED] = {"blocked", "blocked", "blocked_ns", false},
    [LEVEL_CONTENTION] = {"contention", "contention", "contention_ns", true},
    [LEVEL_RENDEZVOUS] = {"rendezvous", "rendezvous", "rendezvous_ns", true},
    [LEVEL_TIMEOUT] = {"timeout", "timeout", "timeout_ns", true},
    [LEVEL_UNATTRIBUTED] = {"unattributed", "unattributed", "unattributed_ns", true},
    [LEVEL_OFF_CPU] = {"off-CPU (other)", "other_off_cpu", "other_off_cpu_ns", false}};

__extension__ typedef __int128 wide; /* for the product of a time and a number of parts */

struct level_thread {
    uint32_t index;
    int64_t from_ns, to_ns; /* of its lifetime, as far as it counts */
};

struct level_change {
    int64_t at_ns;
    uint8_t level; /* an enum thread_level */
    int8_t by; /* 1 or -1 */
};

/* ---- begin ---- */

void thread_levels_begin(struct thread_levels *l, int64_t from_ns, int64_t to_ns, uint32_t parts)
{
    *l = (struct thread_levels){.from_ns = from_ns, .to_ns = to_ns};
    l->part_count = (uint64_t)(to_ns - from_ns) < parts ? (uint32_t)(to_ns - from_ns) : parts;
    l->parts = xcalloc(l->part_count + 1u, sizeof *l->parts);
    for (uint32_t i = 0; i < l->part_count; i++) {
        struct level_part *p = &l->parts[i];
        p->from_ns = i ? l->parts[i - 1].to_ns : from_ns;
        p->to_ns = from_ns + (int64_t)((wide)(to_ns - from_ns) * (i + 1) / l->part_count);
        for (unsigned k = 0; k < THREAD_LEVELS; k++)
            p->of[k].least = UINT32_MAX;
    }
}

void thread_levels_add(struct thread_levels *l, const struct lifetimes *lives, uint32_t thread,
                       int64_t until_ns)
{
    struct level_thread t = {.index = thread};
    if (!thread_states_lifetime(lives, &lives->all->threads[thread], &t.from_ns, &t.to_ns))
        return;
    t.from_ns = int64_max(t.from_ns, l->from_ns);
    t.to_ns = int64_min(int64_min(t.to_ns, until_ns), l->to_ns);
    if (t.from_ns >= t.to_ns)
        return;
    l->threads =
        array_reserve(l->threads, &l->thread_room, l->thread_count + 1, sizeof *l->threads);
    l->threads[l->thread_count++] = t;
}

/* ---- changes of a slice ---- */

struct level_visit {
    struct thread_levels *levels;
    const struct lifetimes *lives;
    const struct thread_timeline *course;
};

static void thread_levels_change(struct thread_levels *l, enum thread_level level, int64_t from_ns,
                                 int64_t to_ns)
{
    if (from_ns >= to_ns)
        return;
    l->changes =
        array_reserve(l->changes, &l->change_room, l->change_count + 2, sizeof *l->changes);
    l->changes[l->change_count++] = (struct level_change){from_ns, (uint8_t)level, 1};
    l->changes[l->change_count++] = (struct level_change){to_ns, (uint8_t)level, -1};
}

/* Returns the class of a wait that another thread ends, as it can with a timeout, too. */
static enum thread_level thread_levels_class(const struct wait_record *wait)
{
    return wait && wait->class == WAIT_CONTENTION ? LEVEL_CONTENTION : LEVEL_RENDEZVOUS;
}

static enum thread_level thread_levels_class_of(const struct intervals *all,
                                                const struct interval *item)
{
    return item->is == INTERVAL_TIMEOUT ? LEVEL_TIMEOUT
           : item->is == INTERVAL_SEGMENT
               ? thread_levels_class(&all->waits[all->segments[item->of].wait])
               : LEVEL_UNATTRIBUTED;
}

/* Divides the blocked time of a wait by class; a wait that has not ended is not among the
 * intervals. */
static void thread_levels_add_blocked(const struct level_visit *v,
                                      const struct thread_state_interval *spell)
{
    const struct thread_timeline *c = v->course;
    int64_t at_ns = spell->from_ns;
    for (size_t i = intervals_at(c, at_ns); i < c->count && at_ns < spell->to_ns; i++) {
        int64_t to_ns = int64_min(c->items[i].to_ns, spell->to_ns);
        thread_levels_change(v->levels, thread_levels_class_of(v->lives->all, &c->items[i]), at_ns,
                             to_ns);
        at_ns = to_ns;
    }
    thread_levels_change(v->levels,
                         thread_levels_class(thread_states_open_wait(v->lives, c->thread)), at_ns,
                         spell->to_ns);
}

static void thread_levels_visit(void *context, const struct thread_state_interval *spell)
{
    static const uint8_t levels[THREAD_STATES] = {
        [THREAD_STATE_CREATED] = THREAD_LEVELS, [THREAD_STATE_RUNNABLE] = LEVEL_RUNNABLE,
        [THREAD_STATE_RUNNING] = LEVEL_RUNNING, [THREAD_STATE_BLOCKED] = LEVEL_BLOCKED,
        [THREAD_STATE_OFF_CPU] = LEVEL_OFF_CPU, [THREAD_STATE_EXITED] = THREAD_LEVELS};
    const struct level_visit *v = context;
    unsigned level = levels[spell->state];
    if (level == THREAD_LEVELS)
        return;
    thread_levels_change(v->levels, (enum thread_level)level, spell->from_ns, spell->to_ns);
    if (level == LEVEL_BLOCKED)
        thread_levels_add_blocked(v, spell);
}

/* ---- sweep ---- */

static int thread_levels_by_time(const void *a, const void *b)
{
    const struct level_change *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Adds the time for which the current numbers of threads last. */
static void thread_levels_last(struct thread_levels *l, struct level_part *p, int64_t ns)
{
    for (unsigned k = 0; ns > 0 && k < THREAD_LEVELS; k++) {
        struct level_sum *sum = &p->of[k];
        uint32_t now = (uint32_t)l->now[k];
        sum->total_ns += ns * now;
        sum->least = now < sum->least ? now : sum->least;
        sum->most = now > sum->most ? now : sum->most;
        l->at[now].ns[k] += ns;
        l->at_count = now >= l->at_count ? now + 1 : l->at_count;
    }
}

/* Each state interval of the slice begins and ends in it, so that all numbers are 0 at its ends. */
static void thread_levels_sweep(struct thread_levels *l, struct level_part *p, int64_t from_ns,
                                int64_t to_ns)
{
    int64_t at_ns = from_ns;
    if (l->change_count)
        qsort(l->changes, l->change_count, sizeof *l->changes, thread_levels_by_time);
    for (size_t i = 0; i < l->change_count; i++) {
        thread_levels_last(l, p, l->changes[i].at_ns - at_ns);
        at_ns = l->changes[i].at_ns;
        l->now[l->changes[i].level] += l->changes[i].by;
    }
    thread_levels_last(l, p, to_ns - at_ns);
    l->change_count = 0;
}

static int64_t thread_levels_border(const struct thread_levels *l, const struct level_part *p,
                                    uint32_t slice)
{
    return p->from_ns + (int64_t)((wide)(p->to_ns - p->from_ns) * slice / l->slices);
}

/* Collects the changes of all threads in a slice; returns false if the budget is spent. */
static bool thread_levels_collect(struct thread_levels *l, const struct lifetimes *lives,
                                  int64_t from_ns, int64_t to_ns, uint64_t *budget)
{
    for (; l->thread < l->thread_count; l->thread++) {
        const struct level_thread *t = &l->threads[l->thread];
        int64_t from = int64_max(t->from_ns, from_ns), to = int64_min(t->to_ns, to_ns);
        size_t before = l->change_count;
        if (from >= to)
            continue;
        if (!*budget)
            return false;
        struct level_visit v = {l, lives, &lives->all->threads[t->index]};
        thread_states_visit(lives, v.course, from, to, thread_levels_visit, &v);
        uint64_t cost = 1 + (l->change_count - before) / 2;
        *budget -= cost < *budget ? cost : *budget;
    }
    l->thread = 0;
    return true;
}

bool thread_levels_step(struct thread_levels *l, const struct lifetimes *lives, uint64_t *budget)
{
    if (!l->slices) {
        l->slices =
            1 + (uint32_t)(lives->all->interval_count / SLICE_INTERVALS / (l->part_count + 1u));
        l->at = xcalloc(l->thread_count + 1u, sizeof *l->at);
    }
    for (; l->slice / l->slices < l->part_count; l->slice++) {
        struct level_part *p = &l->parts[l->slice / l->slices];
        int64_t from_ns = thread_levels_border(l, p, l->slice % l->slices),
                to_ns = thread_levels_border(l, p, l->slice % l->slices + 1);
        if (!thread_levels_collect(l, lives, from_ns, to_ns, budget))
            return false;
        thread_levels_sweep(l, p, from_ns, to_ns);
    }
    return true;
}

struct level_part thread_levels_total(const struct thread_levels *l)
{
    struct level_part all = {.from_ns = l->from_ns, .to_ns = l->to_ns};
    for (uint32_t i = 0; i < l->part_count; i++)
        for (unsigned k = 0; k < THREAD_LEVELS; k++) {
            const struct level_sum *of = &l->parts[i].of[k];
            struct level_sum *sum = &all.of[k];
            sum->total_ns += of->total_ns;
            sum->least = i && sum->least < of->least ? sum->least : of->least;
            sum->most = of->most > sum->most ? of->most : sum->most;
        }
    return all;
}

void thread_levels_free(struct thread_levels *l)
{
    free(l->parts);
    free(l->at);
    free(l->threads);
    free(l->changes);
    *l = (struct thread_levels){0};
}
