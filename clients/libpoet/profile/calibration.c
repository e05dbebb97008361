/* Measurement of the instrumentation overhead: many calls of a function that does nothing. The
 * region shows how much time was attributed to the function; the rest of the overhead is attributed
 * to its caller. The minimum of the rounds counts, since the others were disturbed. */
#define _GNU_SOURCE
#include "clients/libpoet/profile/calibration.h"

#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/profile/call_log.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"

#include <string.h>

#define ROUNDS 20u
#define LEAST_ROUNDS                                                                               \
    5u /* however long they take: the system may run another thread for long during any of them */
#define CALLS 256u
#define MOST_NS 700000u

/* In 256ths of a tick, and GAP_NS in ticks; set once, by the first thread. */
static _Atomic uint32_t calibration_within, calibration_around;
static _Atomic uint64_t calibration_gap;
static _Atomic bool calibration_known;

/* Runs a round that begins and ends as needed; its sums are in context 1. */
static uint64_t calibration_one_round(struct thread_profile *m)
{
    void *function = (void *)(uintptr_t)calibration_run;
    uint64_t begin = thread_profile_ticks_later(m);
    for (unsigned i = 0; i < CALLS; i++) {
        __cyg_profile_func_enter(function, NULL);
        __cyg_profile_func_exit(function, NULL);
    }
    return thread_profile_ticks_later(m) - begin;
}

static void calibration_begin(struct thread_profile *m)
{
    frames_of(m)[0] = (struct profile_region_frame){.stack = OUTERMOST};
    atomic_store(&m->head->depth, 1);
    atomic_store(&m->head->contexts, 1);
}

static void calibration_end(struct thread_profile *m)
{
    memset(m->head, 0, sizeof *m->head);
    memset(frames_of(m), 0, 2 * sizeof *frames_of(m));
    memset(contexts_of(m), 0, 2 * sizeof *contexts_of(m));
}

void calibration_run(struct traced_thread *t, struct thread_profile *m)
{
    if (atomic_load(&calibration_known))
        return;
    uint64_t from = tracer_clock_now(), from_ticks = thread_profile_ticks(m);
    uint64_t least = UINT64_MAX, least_within = 0, before = 0;
    calibration_begin(m);
    m->gap = UINT64_MAX >> 1; /* it includes no reading of the CPU clock */
    m->last = from_ticks;
    m->all_functions = true;
    if (atomic_load(&t->queue->wanted) & WANTED_EVERY)
        call_log_rehearse(m);
    t->profile = m;
    for (unsigned i = 0; i < LEAST_ROUNDS || (i < ROUNDS && tracer_clock_now() - from < MOST_NS);
         i++) {
        uint64_t took = calibration_one_round(m), all = sum_of(&contexts_of(m)[1].real);
        if (took < least) {
            least = took;
            least_within = all - before;
        }
        before = all;
    }
    t->profile = NULL;
    call_log_leave(m);
    uint64_t ns = tracer_clock_now() - from, ticks = thread_profile_ticks(m) - from_ticks;
    calibration_end(m);
    atomic_store(&calibration_gap, (uint64_t)((double)GAP_NS * (double)ticks / (double)ns));
    atomic_store(&calibration_within, (uint32_t)(least_within * 256 / CALLS));
    atomic_store(&calibration_around, (uint32_t)((least - least_within) * 256 / CALLS));
    atomic_store(&calibration_known, true);
}

void calibration_apply(struct thread_profile *m)
{
    m->gap = atomic_load(&calibration_gap);
    m->head->enter_256 = atomic_load(&calibration_within);
    m->head->exit_256 = atomic_load(&calibration_around);
}
