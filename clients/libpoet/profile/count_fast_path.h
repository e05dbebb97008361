/* Fast path of calls that are counted and not timed, for paths that have occurred before. It is
 * part of the two functions that compilers insert into all others, so it is short: it makes no
 * calls and keeps nothing on the stack. */
#ifndef CLIENTS_LIBPOET_PROFILE_COUNT_FAST_PATH_H
#define CLIENTS_LIBPOET_PROFILE_COUNT_FAST_PATH_H

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/profile/call_stack.h"
#include "clients/libpoet/profile/region_owner.h"

#include <string.h>

#pragma GCC visibility push(hidden)

static inline void fast_path_set_depth(struct profile_region_head *head, uint32_t depth)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&head->depth, depth, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void fast_path_count_call(struct profile_region_context *to)
{
    sum_add(&to->calls, 1);
    if (UNLIKELY(atomic_load_explicit(&tracer.threads.running, memory_order_relaxed) > 1))
        sum_add(&to->concurrent, 1);
}

/* Sets what the calls of a signal handler are placed below. */
static inline void fast_path_set_context(struct profile_region_frame *f, uint32_t context,
                                         uint32_t lands, uint64_t stack)
{
    /* one store, from which loads of either half are forwarded */
    uint64_t which = (uint64_t)lands << 32 | context;
    memcpy(f, &which, sizeof which);
    f->stack = stack;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Writes the frame of a call that becomes open; f is the frame at that depth. */
static inline __attribute__((always_inline)) void
fast_path_push(struct profile_region_head *head, struct profile_region_frame *f, uint32_t depth,
               const struct profile_region_context *of, uint32_t context, uint64_t function,
               uint64_t stack)
{
    uint32_t lands = of->lands;
    /* a handler may run before its place is reserved, */
    fast_path_set_context(f, context, lands, stack);
    fast_path_set_depth(head, depth + 1);
    fast_path_set_context(f, context, lands, stack); /* and have used it */
    f->function = function;
}

/* Returns false if nothing was done; the caller must then call call_stack_function_enter(). */
static inline __attribute__((always_inline)) bool
fast_path_enter(struct thread_profile *m, uint64_t function, uint64_t site, uint64_t stack)
{
    struct profile_region_head *head = m->head;
    uint32_t depth = atomic_load_explicit(&head->depth, memory_order_relaxed);
    struct profile_region_frame *f = &thread_profile_frames_in(head)[depth];
    if (UNLIKELY(depth >= m->room || stack - CALL_STACK_SLACK > f[-1].stack))
        return false;
    uint32_t lands = f[-1].lands,
             c = atomic_load_explicit(context_tree_cached(m, lands, function, site),
                                      memory_order_relaxed);
    struct profile_region_context *to = &thread_profile_contexts_in(head)[c];
    if (UNLIKELY(!context_tree_is(to, lands, function, site)))
        return false;
    fast_path_count_call(to);
    fast_path_push(head, f, depth, to, c, function, stack);
    return true;
}

/* Returns false if nothing was done; the caller must then call call_stack_function_exit(). */
static inline __attribute__((always_inline)) bool fast_path_exit(const struct thread_profile *m,
                                                                 uint64_t function)
{
    struct profile_region_head *head = m->head;
    uint32_t depth = atomic_load_explicit(&head->depth, memory_order_relaxed);
    const struct profile_region_frame *f = &thread_profile_frames_in(head)[depth] - 1;
    if (UNLIKELY(depth > m->room || f->function != function || sum_of(&f->began) ||
                 m->activity.known))
        return false;
    uint32_t c = atomic_load_explicit(&f->context, memory_order_relaxed);
    sum_add(&thread_profile_contexts_in(head)[c].ended, 1);
    fast_path_set_depth(head, depth - 1);
    return true;
}

#pragma GCC visibility pop
#endif
