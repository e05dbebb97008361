/* Recent signals of a condition variable: which of them may have woken a waiter. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_CONDITION_SIGNALS_H
#define CLIENTS_LIBPOET_INTERPOSE_CONDITION_SIGNALS_H

#include "wire/event_types.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct sync_object;
struct traced_thread;

/* State of a condition variable at the beginning of a wait. */
struct condition_signals_wait {
    struct sync_object *condition;
    uint64_t since; /* signals up to this one cannot be meant for it */
    uint64_t bare;  /* calls without the mutex, begun and ended */
    unsigned mixed; /* how often another mutex was used, too */
    bool shared;    /* other processes may signal */
};

/* Why the signal that woke a thread is not known.  Texts of the wake. */
extern const char condition_signals_several[], condition_signals_unrecorded[],
    condition_signals_elsewhere[];

/* Begins and ends a wait.  The calling thread holds the mutex. */
struct condition_signals_wait condition_signals_wait_begin(struct sync_object *condition,
                                                           struct sync_object *mutex, bool shared);
void condition_signals_wait_end(const struct condition_signals_wait *wait);
/* Returns the first signal since the wait began if one thread made all of them; else sets *why. */
struct event_id condition_signals_cause(const struct condition_signals_wait *wait,
                                        const char **why);
/* Returns whether all signals that may have woken the waiter were made with its mutex held: then
 * the order has them, whichever it was. */
bool condition_signals_are_ordered(const struct condition_signals_wait *wait);
/* Adds a signal before the call that makes it, in this lifetime of the process. by: the line of
 * the thread, 0 if that is not recorded. Returns whether the thread does not hold the mutex of the
 * waiters: then condition_signals_call_end() ends it after the call. */
bool condition_signals_add(struct sync_object *condition, struct traced_thread *thread, uint32_t by,
                           struct event_id at, bool shared);
void condition_signals_call_end(struct sync_object *condition);
/* Another condition variable is at the same address now. */
void condition_signals_renew(struct sync_object *condition);

#pragma GCC visibility pop
#endif
