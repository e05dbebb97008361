/* Hooks that compilers insert at the begin and the end of every function with
 * -finstrument-functions. */
#ifndef CLIENTS_LIBPOET_PROFILE_INSTRUMENT_HOOKS_H
#define CLIENTS_LIBPOET_PROFILE_INSTRUMENT_HOOKS_H

#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/thread_profile.h"

#define HOOK __attribute__((visibility("default"), no_instrument_function, aligned(64)))
HOOK void __cyg_profile_func_enter(void *function, void *site);
HOOK void __cyg_profile_func_exit(void *function, void *site);

#pragma GCC visibility push(hidden)

void instrument_begin(void); /* Finds out whether other libraries define such hooks. */
void exceptions_begin(void); /* Finds the function with which exception handlers begin. */

/* Returns what is wanted of a measured thread, as WANTED bits. */
static inline uint32_t instrument_wanted(const struct traced_thread *t)
{
    return atomic_load_explicit(&t->queue->wanted, memory_order_relaxed);
}

/* Returns the measurements of a thread with wanted calls, and sets *wanted; NULL if nothing is
 * measured. */
struct thread_profile *instrument_first_call(struct traced_thread *thread);
static inline struct thread_profile *instrument_get_measured(struct traced_thread *t,
                                                             uint32_t *wanted)
{
    if (!t->queue)
        return NULL;
    *wanted = instrument_wanted(t);
    if (LIKELY(!(*wanted & WANTED_CALLS)))
        return NULL;
    return LIKELY(t->profile) ? t->profile : instrument_first_call(t);
}

/* Returns the measurements of the calling thread, and sets *wanted, also of one that has no line
 * yet; NULL if nothing is measured. */
struct thread_profile *instrument_measured_thread(uint32_t *wanted);

/* Mark the beginning of a wait, at an event of that type and site (0: not known), and its end. */
void instrument_wait_begin(struct traced_thread *thread, uint32_t type, uintptr_t site);
void instrument_wait_end(struct traced_thread *thread, uint32_t type);

#pragma GCC visibility pop
#endif
