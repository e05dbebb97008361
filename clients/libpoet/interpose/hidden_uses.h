/* Hidden uses: calls of code that is not recorded on objects of the program. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_HIDDEN_USES_H
#define CLIENTS_LIBPOET_INTERPOSE_HIDDEN_USES_H

#include "clients/libpoet/core/likely.h"
#include "clients/libpoet/core/sync_object.h"

#include <semaphore.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Returns the object if recorded calls have used it or it lies in the program's own data; NULL: it
 * is a library's own, or nothing is recorded. */
struct sync_object *hidden_use_object(const void *address, enum sync_object_kind kind);
/* The calling thread releases or posts it: note that before the real call. */
void hidden_use_release(struct sync_object *object);
/* The calling thread has acquired it, after the real call: more may be before its next event. */
void hidden_use_acquire(struct sync_object *object);
void hidden_use_acquire_exclusive(
    struct sync_object *object); /* a mutex or spin lock, and holds it */
/* The calling thread's next event may be after a use of it that is not recorded. */
void hidden_use_mark_uncertain(const struct sync_object *object);
/* A recorded call has acquired it.  alone: whoever acquires it later does so after this thread. */
void hidden_use_check_acquired(struct sync_object *object, struct traced_thread *thread,
                               bool alone);
static inline void hidden_use_check(struct sync_object *o, struct traced_thread *thread, bool alone)
{
    if (!LIKELY(!o->hidden))
        hidden_use_check_acquired(o, thread, alone);
}

/* Units of a semaphore that is this process's alone.  A unit that is taken though no call that
 * passed here has posted it proves a hidden post: hidden_use_consume_unit() returns true. */
void hidden_use_set_units(sem_t *semaphore, unsigned value);
void hidden_use_add_units(struct sync_object *object, int units);
bool hidden_use_consume_unit(struct sync_object *object);

#pragma GCC visibility pop
#endif
