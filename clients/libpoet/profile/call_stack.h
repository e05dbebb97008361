/* The calls that a thread is in: a call begins, and ends. */
#ifndef CLIENTS_LIBPOET_PROFILE_CALL_STACK_H
#define CLIENTS_LIBPOET_PROFILE_CALL_STACK_H

#include "clients/libpoet/profile/thread_profile.h"
#include "wire/slot.h"

/* How far the stack pointer may move to and fro within one function, between calls that were put
 * into it. */
#define CALL_STACK_SLACK 128u

#pragma GCC visibility push(hidden)

/* A call of a function begins, or what else an enum profile_scope says.  wanted: one of
 * WANTED_CALLS is among it; site: where it was called from, 0 not known; stack: the stack pointer,
 * about. */
void call_stack_function_enter(struct thread_profile *m, uint32_t wanted, uint64_t function,
                               uint64_t site, uint32_t scope, uint64_t stack);
/* The innermost call of that function has ended; where none is open, that is counted. */
void call_stack_function_exit(struct thread_profile *m, uint32_t wanted, uint64_t function,
                              uint64_t stack);
/* The innermost part of that scope, likewise. */
void call_stack_scope_exit(struct thread_profile *m, uint32_t wanted, uint32_t scope);
/* All that lie below a place on the stack: a jump to there has ended them. */
void call_stack_cut(struct thread_profile *m, uint32_t wanted, uint64_t stack);
/* In a child of fork: calls whose frames lie above that place its parent began. */
void frames_forked(uint64_t stack);
/* After jumps out of signal handlers: what began, or ended, and was left half done has ended
 * once. */
void frames_settle(struct thread_profile *m);
/* The calls of a child of vfork (vforked.h) have ended, as of the last look; and in its parent,
 * where the child has become another program. */
void frames_leave_child(struct thread_profile *m);
void frames_rejoin(struct thread_profile *m);
/* The innermost one has ended, whatever it is; `ran` is what call_stack_now() said with that
 * `now`. */
void call_stack_drop(struct thread_profile *m, uint64_t now, uint64_t ran);

/* For calls that go on elsewhere, and later here again (coroutine_stacks.h): */
uint64_t call_stack_now(struct thread_profile *m, const struct queue_head *queue, uint64_t *ran);
/* The innermost one pauses: its time until now is told, but it has not ended; and it goes on, in
 * that context. */
void call_stack_pause(struct thread_profile *m, uint64_t now, uint64_t ran);
void call_stack_resume(struct thread_profile *m, uint32_t wanted, uint32_t context,
                       uint64_t function, uint64_t stack);
/* One more frame of the thread itself, under calls on another stack; false: there is no room.  And
 * without it. */
bool call_stack_base_enter(struct thread_profile *m, uint32_t wanted);
void call_stack_base_leave(struct thread_profile *m, uint64_t ran);

/* What is done with the calls of a function, where the user named some; NULL: all are measured.
 * Asked where a call is not known yet, and wherever it ends and was not measured: also in signal
 * handlers. */
enum function_measurement {
    MEASUREMENT_DEFAULT,
    MEASUREMENT_FULL,
    MEASUREMENT_EXCLUDED, /* nor is what it calls: its time is its caller's */
    MEASUREMENT_SKIPPED, /* but what it calls is */
    MEASUREMENT_COUNTED /* likewise, and its calls are counted */
};
/* A path to a function was met first; NULL: that is of no interest. */
extern void (*_Atomic call_stack_on_new_function)(uintptr_t function);
extern enum function_measurement (*_Atomic call_stack_filter)(uint64_t function);
/* No ignored call is open any more. */
void call_stack_end_ignored(struct thread_profile *m);

/* The number of a context below another one, made if need be: the same is wanted again and
 * again. */
uint32_t context_tree_find(struct thread_profile *m, uint32_t parent, uint64_t function,
                           uint64_t site, uint32_t scope);

static inline _Atomic uint32_t *context_tree_cached(struct thread_profile *m, uint32_t parent,
                                                    uint64_t function, uint64_t site)
{
    return &m->known[((function >> 4) + site + parent * 0x9e3779b1u) % KNOWN_CONTEXTS];
}

/* Of calls that are counted only: no straight way looks there for the same function, so that none
 * has a frame. */
static inline _Atomic uint32_t *context_tree_cached_counted(struct thread_profile *m,
                                                            uint32_t parent, uint64_t function,
                                                            uint64_t site)
{
    return &m->known[(context_tree_cached(m, parent, function, site) - m->known) ^ 1];
}

/* It is that one; not the thread itself, which has no function; and no two scopes have the same
 * ones. */
static inline bool context_tree_is(const struct profile_region_context *is, uint32_t parent,
                                   uint64_t function, uint64_t site)
{
    return is->function == function && is->site == site && is->parent == parent;
}

static inline uint32_t context_tree_find_cached(struct thread_profile *m, uint32_t parent,
                                                uint64_t function, uint64_t site, uint32_t scope)
{
    uint32_t c =
        atomic_load_explicit(context_tree_cached(m, parent, function, site), memory_order_relaxed);
    if (LIKELY(context_tree_is(&contexts_of(m)[c], parent, function, site)))
        return c;
    return context_tree_find(m, parent, function, site, scope);
}

/* The gap rule: between two looks at a clock a thread was off its processor for no longer than was
 * between them.  Where that is short it is taken to have run; after a gap it looks at its processor
 * clock how long it ran in all, so that what was missed before comes in.  A look takes some hundred
 * times as long as reading the counter. */
#define GAP_NS 4000u
bool cpu_gap_check(struct thread_profile *m,
                   const struct profile_region_frame *innermost); /* false: it is at it */
/* Another task goes on in its place on a thread of the system; and it goes on there, where its
 * processor time is wanted. */
void cpu_gap_leave(struct thread_profile *m, uint64_t now);
void cpu_gap_return(struct thread_profile *m, uint64_t now);

static inline uint32_t call_stack_depth(const struct thread_profile *m)
{
    return atomic_load_explicit(&m->head->depth, memory_order_relaxed);
}

/* The innermost frame that there is. */
static inline struct profile_region_frame *call_stack_top(const struct thread_profile *m)
{
    uint32_t depth = call_stack_depth(m);
    return &frames_of(m)[(depth < REGION_FRAMES ? depth : REGION_FRAMES) - 1];
}

/* The context whose time passes while that frame is the innermost one.  Of a call that a signal
 * handler found half begun, or half ended, no time is counted: it is the time of its caller. */
static inline struct profile_region_context *frames_timed(const struct thread_profile *m,
                                                          const struct profile_region_frame *f)
{
    while (f > frames_of(m) && !sum_of(&f->began))
        f--;
    return &contexts_of(m)[atomic_load_explicit(&f->context, memory_order_relaxed)];
}

#pragma GCC visibility pop
#endif
