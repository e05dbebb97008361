/* Measurement state that a thread keeps to itself; the sums are in its region
 * (wire/profile_region.h). Only the thread and its signal handlers write it: handlers leave the
 * frames as they found them, and each number is changed by one instruction, or may be changed
 * late. */
#ifndef CLIENTS_LIBPOET_PROFILE_THREAD_PROFILE_H
#define CLIENTS_LIBPOET_PROFILE_THREAD_PROFILE_H

#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/profile/call_log.h"
#include "wire/profile_region.h"
#include "wire/slot.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define WANTED_CALLS (WANTED_COUNTS | WANTED_REAL | WANTED_CPU | WANTED_EVERY)
#define KNOWN_CONTEXTS 4096u
#define FIRST_CONTEXTS 8192u
#define OTHER_CONTEXTS 8192u
/* Stack pointer of a frame that lies above all calls: of the thread itself, and of a coroutine's
 * stack. */
#define OUTERMOST UINT64_MAX

/* A child of vfork that runs in its parent's place. Written by the child (vforked.h), cpu_gap.c and
 * call_stack.c. */
struct vforked_child {
    int process; /* process id; 0: none is known */
    uint32_t depth; /* how many frames are its parent's */
    bool leaves; /* it is about to execute another program */
};

/* The reading of the clocks from which off-CPU time is counted. Written by cpu_gap.c. */
struct cpu_gap_anchor {
    bool set; /* the reading was made */
    uint64_t ticks, ns, cpu, off; /* off: the thread's off-CPU time then */
};

struct coroutine_calls;
struct thread_sampling;
struct block_counts;

struct activity_step {
    uint64_t ticks;
    uint32_t calls, epoch; /* of another epoch: not one of the segments of this one */
};

/* The segments of a thread since its last record, and the one that it is in. Written by activity.h
 * and activity.c, in functions that take the whole profile, which saves instructions. */
struct thread_activity {
    struct activity_step *segments; /* by number; NULL: none are reported */
    uint64_t since; /* ticks, when it entered this segment */
    uint32_t step, attributed; /* where it is; the segment to which its time is attributed */
    uint32_t epoch; /* increases with each record */
    bool known; /* its segment is known */
    bool changed; /* segments have changed since the last record */
    uint32_t touched_count, touched[ACTIVITY_AT_ONCE]; /* those since the last record */
};

struct thread_profile {
    /* contexts, by their parent and function; the first member, which saves an instruction */
    _Atomic uint32_t known[KNOWN_CONTEXTS];
    struct profile_region_head *head;
    uint64_t last; /* ticks, when it was last known to be running */
    /* ticks, total time off-CPU at the last reading of its CPU clock */
    uint64_t off;
    uint64_t gap; /* ticks: minimum gap after which the CPU clock is read */
    int process; /* process id; a different one means a child of vfork */
    uint32_t clock; /* QUEUE_CLOCK_* */
    uint32_t serial; /* no other region of the process has it */
    _Atomic uint32_t next; /* context; may be above REGION_CONTEXTS */
    /* frames that the fast path may use: REGION_FRAMES; 0: an ignored call is open */
    uint32_t room;
    bool all_functions; /* regardless of the functions that the user named */
    uint32_t throttled; /* how many of the throttled functions it has noticed (throttle.h) */
    uint32_t ignored_open; /* how many calls of the ignored function are open */
    uint64_t ignored, ignored_stack; /* the outermost one, and its stack address; 0: none */
    /* Stack addresses at which it is reading the CPU clock, and at which a call is being begun or
     * ended; 0: neither. Otherwise handlers that interrupt it leave that alone, and jumps out of
     * them repair it. */
    uint64_t reading_stack, changing_stack;
    uint32_t changes; /* how often a call began or ended, also in handlers */
    uint32_t samples; /* how often the CPU clock was read, also in handlers */
    bool updating; /* what was read is being taken over */
    /* Jumps since the numbers of ended calls were settled. */
    uint32_t jumps;
    /* Calls of a coroutine have paused: frames do not show which calls have ended. */
    bool paused;
    struct coroutine_calls *resumed; /* calls of the innermost coroutine that it has resumed */
    struct vforked_child vforked;
    struct cpu_gap_anchor anchor;
    struct thread_activity activity;
    uint64_t replaced_at; /* ticks, when another task replaced it; 0: not replaced */
    struct thread_call_log call_log;
    _Atomic uint32_t firsts[FIRST_CONTEXTS]; /* of each function */
    _Atomic uint32_t other; /* context of SCOPE_OTHER; 0: there is none */
    _Atomic uint32_t others[OTHER_CONTEXTS]; /* below it, of each function */
    struct block_counts *blocks; /* of basic blocks; NULL: none was reached (block_counts.c) */
    struct thread_sampling *sampling; /* NULL: calls are measured (sampling.c) */
};

/* [0]: the thread itself, always open */
static inline struct profile_region_frame *
thread_profile_frames_in(struct profile_region_head *head)
{
    return (struct profile_region_frame *)(void *)((char *)head + REGION_FRAMES_AT);
}

static inline struct profile_region_frame *frames_of(const struct thread_profile *m)
{
    return thread_profile_frames_in(m->head);
}

static inline struct profile_region_context *
thread_profile_contexts_in(struct profile_region_head *head)
{
    return (struct profile_region_context *)(void *)((char *)head + REGION_CONTEXTS_AT);
}

static inline struct profile_region_context *contexts_of(const struct thread_profile *m)
{
    return thread_profile_contexts_in(m->head);
}

static inline bool thread_profile_clock_is_ticks(void)
{
    return atomic_load_explicit(&tracer.clock.has_ticks, memory_order_acquire);
}

static inline uint64_t thread_profile_ticks(const struct thread_profile *m)
{
    return LIKELY(thread_profile_clock_is_ticks()) ? CLOCK_TICKS()
                                                   : tracer_clock_now_in_unit(m->clock);
}

/* Reads the counter after all earlier instructions. */
static inline uint64_t thread_profile_ticks_from(void)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return CLOCK_TICKS();
}

static inline uint64_t thread_profile_ticks_later(const struct thread_profile *m)
{
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#endif
    return thread_profile_ticks(m);
}

/* Adds in one instruction; with two, an addition by a handler in between would be lost. */
static inline void sum_add(_Atomic uint64_t *sum, uint64_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(n) : "cc");
#else
    atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + n,
                          memory_order_relaxed);
#endif
}

static inline uint64_t sum_of(const _Atomic uint64_t *sum)
{
    return atomic_load_explicit(sum, memory_order_relaxed);
}

static inline void sum_set(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_store_explicit(sum, value, memory_order_relaxed);
}

#pragma GCC visibility pop
#endif
