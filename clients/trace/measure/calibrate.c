/* What measuring takes itself: many calls of a function that does nothing, of which the region tells what it took
 * for the time within the call; the rest of what they took is their caller's.  The least counts: in the others
 * something else came in between. */
#define _GNU_SOURCE
#include "clients/trace/measure/calibrate.h"

#include "clients/trace/core/clock.h"
#include "clients/trace/measure/every.h"
#include "clients/trace/measure/frames.h"
#include "clients/trace/measure/hooks.h"

#include <string.h>

#define ROUNDS 20u
#define LEAST_ROUNDS                                                                               \
    5u /* whatever they take: the system may run somebody else for long in any one of them */
#define CALLS 256u
#define MOST_NS 700000u

/* In 256ths of a tick, and how many ticks GAP_NS is; once, by whoever comes first. */
static _Atomic uint32_t within, around;
static _Atomic uint64_t gap;
static _Atomic bool known;

/* One that begins and ends where it is wanted; its sums are in context 1. */
static uint64_t one_round(struct measured *m)
{
    void *function = (void *)(uintptr_t)calibrate;
    uint64_t begin = measured_ticks_after(m);
    for (unsigned i = 0; i < CALLS; i++) {
        __cyg_profile_func_enter(function, NULL);
        __cyg_profile_func_exit(function, NULL);
    }
    return measured_ticks_after(m) - begin;
}

static void begin(struct measured *m)
{
    frames_of(m)[0] = (struct region_frame){.stack = OUTERMOST};
    atomic_store(&m->head->depth, 1);
    atomic_store(&m->head->contexts, 1);
}

static void end(struct measured *m)
{
    memset(m->head, 0, sizeof *m->head);
    memset(frames_of(m), 0, 2 * sizeof *frames_of(m));
    memset(contexts_of(m), 0, 2 * sizeof *contexts_of(m));
}

void calibrate(struct thread *t, struct measured *m)
{
    if (atomic_load(&known))
        return;
    uint64_t from = clock_now(), from_ticks = measured_ticks(m);
    uint64_t least = UINT64_MAX, least_within = 0, before = 0;
    begin(m);
    m->gap = UINT64_MAX >> 1; /* no look belongs to it */
    m->last = from_ticks;
    m->all = true;
    if (atomic_load(&t->queue->wanted) & WANTED_EVERY)
        every_practise(m);
    t->measured = m;
    for (unsigned i = 0; i < LEAST_ROUNDS || (i < ROUNDS && clock_now() - from < MOST_NS); i++) {
        uint64_t took = one_round(m), all = sum_of(&contexts_of(m)[1].real);
        if (took < least) {
            least = took;
            least_within = all - before;
        }
        before = all;
    }
    t->measured = NULL;
    every_leave(m);
    uint64_t ns = clock_now() - from, ticks = measured_ticks(m) - from_ticks;
    end(m);
    atomic_store(&gap, (uint64_t)((double)GAP_NS * (double)ticks / (double)ns));
    atomic_store(&within, (uint32_t)(least_within * 256 / CALLS));
    atomic_store(&around, (uint32_t)((least - least_within) * 256 / CALLS));
    atomic_store(&known, true);
}

void calibrated(struct measured *m)
{
    m->gap = atomic_load(&gap);
    m->head->enter_256 = atomic_load(&within);
    m->head->exit_256 = atomic_load(&around);
}
