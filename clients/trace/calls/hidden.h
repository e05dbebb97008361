/* Hidden uses: calls of code that is not recorded on objects of the program. */
#ifndef CLIENTS_TRACE_CALLS_HIDDEN_H
#define CLIENTS_TRACE_CALLS_HIDDEN_H

#include "clients/trace/core/likely.h"
#include "clients/trace/core/object.h"

#include <semaphore.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct thread;

/* Returns the object if recorded calls have used it or it lies in the program's own data; NULL: it
 * is a library's own, or nothing is recorded. */
struct object *hidden_object(const void *address, enum object_kind kind);
/* The calling thread releases or posts it: note that before the real call. */
void hidden_gives(struct object *object);
/* The calling thread has acquired it, after the real call: more may be before its next event. */
void hidden_takes(struct object *object);
void hidden_takes_alone(struct object *object); /* a mutex or spin lock, and holds it */
/* The calling thread's next event may be after a use of it that is not recorded. */
void hidden_doubt(const struct object *object);
/* A recorded call has acquired it.  alone: whoever acquires it later does so after this thread. */
void hidden_met(struct object *object, struct thread *thread, bool alone);
static inline void hidden_meets(struct object *o, struct thread *thread, bool alone)
{
    if (!LIKELY(!o->hidden))
        hidden_met(o, thread, alone);
}

/* Units of a semaphore that is this process's alone.  A unit that is taken though no call that
 * passed here has posted it proves a hidden post: hidden_unit() returns true. */
void hidden_counts(sem_t *semaphore, unsigned value);
void hidden_posts(struct object *object, int units);
bool hidden_unit(struct object *object);

#pragma GCC visibility pop
#endif
