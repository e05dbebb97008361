/* Recent signals of a condition variable: which of them may have woken a waiter. */
#ifndef CLIENTS_TRACE_CALLS_SIGNALS_H
#define CLIENTS_TRACE_CALLS_SIGNALS_H

#include "wire/event.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct object;
struct thread;

/* What a waiter remembers of its condition variable from the time before it waits. */
struct signals_wait {
    struct object *condition;
    uint64_t since; /* signals that cannot be meant for it */
    uint64_t bare;  /* calls without the mutex, begun and ended */
    unsigned mixed; /* how often another mutex was used, too */
    bool shared;    /* other processes may signal */
};

/* Why the signal that woke a thread is not known.  Texts of the wake. */
extern const char signals_several[], signals_unrecorded[], signals_elsewhere[];

/* Begins and ends a wait.  The calling thread holds the mutex. */
struct signals_wait signals_await(struct object *condition, struct object *mutex, bool shared);
void signals_awaited(const struct signals_wait *wait);
/* Returns the first signal since the wait began if one thread made all of them; else sets *why. */
struct ref signals_cause(const struct signals_wait *wait, const char **why);
/* Returns whether all signals that may have woken the waiter were made with its mutex held: then
 * the order has them, whichever it was. */
bool signals_are_ordered(const struct signals_wait *wait);
/* Adds a signal before the call that makes it, in this life of the process.  by: the line of the
 * thread, 0 if that is not recorded.  Returns whether the thread does not hold the mutex of the
 * waiters: then signals_made() ends it after the call. */
bool signals_add(struct object *condition, struct thread *thread, uint32_t by, struct ref at,
                 bool shared);
void signals_made(struct object *condition);
/* The memory of the condition variable has become another one. */
void signals_renew(struct object *condition);

#pragma GCC visibility pop
#endif
