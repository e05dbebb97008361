/* Measurement state that a thread keeps to itself; the sums are in its region
 * (wire/profile_region.h). Only the thread and its signal handlers write it: handlers leave the
 * frames as they found them, and each number is changed by one instruction, or may be changed
 * late. */
#ifndef CLIENTS_LIBPOET_PROFILE_THREAD_PROFILE_H
#define CLIENTS_LIBPOET_PROFILE_THREAD_PROFILE_H

#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/likely.h"
#include "wire/activity_record.h"
#include "wire/profile_region.h"

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

struct call_records_head;

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
    bool all; /* regardless of the functions that the user named */
    uint32_t throttled; /* how many of the throttled functions it has noticed (throttle.h) */
    uint32_t ignored_open; /* how many calls of the ignored function are open */
    uint64_t ignored, ignored_stack; /* the outermost one, and its stack address; 0: none */
    /* Stack addresses at which it is reading the CPU clock, and at which a call is being begun or
     * ended; 0: neither. Otherwise handlers that interrupt it leave that alone, and jumps out of
     * them repair it. */
    uint64_t looking, changing;
    /* Jumps since the numbers of ended calls were settled. */
    uint32_t jumps;
    /* Calls of a coroutine have paused: frames do not show which calls have ended. */
    bool paused;
    /* vforked.h: process id of a child of vfork that runs in the thread's place, 0: none is known;
     * how many frames are its parent's; whether it is about to execute another program. */
    int vforked;
    uint32_t vforked_depth;
    bool vforked_leaves;
    bool anchored; /* the first reading was made, from which `off` is counted */
    uint64_t from_ticks, from_ns, from_cpu, from_off;
    /* activity.h: */
    struct activity_step *did; /* by segment; NULL: none are reported */
    uint64_t since; /* ticks, when it entered this segment */
    uint32_t step, at; /* where it is; the segment to which its time is attributed */
    uint32_t epoch; /* increases with each record */
    bool stepping; /* its segment is known */
    bool moved; /* segments have changed since the last record */
    uint32_t touched_count, touched[ACTIVITY_AT_ONCE];
    uint64_t left; /* ticks, when another task replaced it; 0: not replaced */
    /* call log; NULL: not wanted, or not available */
    struct call_records_head *every;
    uint32_t every_later; /* how often to skip before the next attempt */
    uint64_t every_room; /* how many words may have been reserved, at the last look */
    _Atomic uint64_t every_open; /* calls whose end will be written, too */
    _Atomic uint64_t every_lost; /* calls that are missing, not reported yet */
    uint8_t every_begun[REGION_FRAMES]; /* for each frame: its begin was written */
    _Atomic uint32_t firsts[FIRST_CONTEXTS]; /* of each function */
    _Atomic uint32_t other; /* context of SCOPE_OTHER; 0: there is none */
    _Atomic uint32_t others[OTHER_CONTEXTS]; /* below it, of each function */
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
    return atomic_load_explicit(&tracer_clock_ticks, memory_order_acquire);
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
