/* What a thread keeps to itself of what it measures; the sums lie in its region
 * (wire/profile_region.h).
 *
 * The thread alone writes all of it, and signal handlers that come in between it: they leave the
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
/* The stack of a frame that no call lies under: of the thread itself, and of what a coroutine
 * runs. */
#define OUTERMOST UINT64_MAX

struct call_records_head;

struct thread_profile {
    _Atomic uint32_t
        known[KNOWN_CONTEXTS]; /* contexts, by their parent and function; the first member: that
                                             * takes an instruction less */
    struct profile_region_head *head;
    uint64_t last; /* ticks, when it was last known to run */
    /* ticks, for how long in all it had not run by its last look at its processor clock */
    uint64_t off;
    uint64_t gap; /* ticks: the least for which a thread is asked whether it ran */
    int process; /* its number; another one looks: that is a child of vfork */
    uint32_t clock; /* QUEUE_CLOCK_* */
    uint32_t serial; /* no other region of the process has it */
    _Atomic uint32_t next; /* context; may be above REGION_CONTEXTS */
    /* frames that calls may take the straight way: REGION_FRAMES; 0: an ignored one is open */
    uint32_t room;
    bool all; /* whatever the user named */
    uint32_t throttled; /* so many functions that are counted only are heeded (throttle.h) */
    uint32_t ignored_open; /* how often the ignored function is */
    uint64_t ignored, ignored_stack; /* the outermost one, and where its frame is; 0: none */
    /* Where on the stack it looks at the processor clock, and where the frame is of a call that
     * begins or ends; 0: it does not.  Else handlers that are in between leave it alone, and jumps
     * out of them mend it. */
    uint64_t looking, changing;
    /* Jumps since the numbers of ended calls were settled. */
    uint32_t jumps;
    /* Calls of a coroutine have paused: which calls have ended cannot be told from frames. */
    bool paused;
    /* vforked.h: a child of vfork in the thread's place, 0: none is known; how many frames are its
     * parent's; and it is about to become another program. */
    int vforked;
    uint32_t vforked_depth;
    bool vforked_leaves;
    bool anchored; /* and the rest is known: what off is counted from */
    uint64_t from_ticks, from_ns, from_cpu, from_off;
    /* activity.h: */
    struct activity_step *did; /* by step; NULL: none are told */
    uint64_t since; /* ticks, from when on it is in this step */
    uint32_t step, at; /* where it is; whose time that counts as */
    uint32_t epoch; /* one from record to record */
    bool stepping; /* its step is known */
    bool moved; /* more than by the last record */
    uint32_t touched_count, touched[ACTIVITY_AT_ONCE];
    uint64_t left; /* ticks, when another task went on in its place; 0: none */
    struct call_records_head
        *every; /* when each call began and ended; NULL: not wanted, or not to be had */
    uint32_t every_later; /* how often that is not tried again yet */
    uint64_t every_room; /* so many words may have been reserved, by the last look */
    _Atomic uint64_t every_open; /* calls whose end will be written, too */
    _Atomic uint64_t every_lost; /* calls that are not there, and it is not said yet */
    uint8_t every_told[REGION_FRAMES]; /* of each frame: its begin was written */
    _Atomic uint32_t firsts[FIRST_CONTEXTS]; /* of each function, by it */
    _Atomic uint32_t other; /* context of SCOPE_OTHER; 0: there is none */
    _Atomic uint32_t others[OTHER_CONTEXTS]; /* below it, of each function, by it */
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

/* The same after all that the program did before. */
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

/* A handler in between two instructions would have its own addition undone. */
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
