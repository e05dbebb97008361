/* Hidden uses: calls of code that is not recorded on objects of the program. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_HIDDEN_USES_H
#define CLIENTS_LIBPOET_INTERPOSE_HIDDEN_USES_H

#include "base/likely.h"
#include "clients/libpoet/core/sync_object.h"

#include <semaphore.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct traced_thread;

/* Returns the object if recorded calls have used it or it lies in the program's own data; NULL if
 * it belongs to a library, or nothing is recorded. */
struct sync_object *hidden_use_object(const void *address, enum sync_object_kind kind);
/* Notes, before the real call, that the calling thread releases or posts it. */
void hidden_use_release(struct sync_object *object);
/* Notes, after the real call, that the calling thread has acquired it: its next event may have more
 * predecessors. */
void hidden_use_acquire(struct sync_object *object);
/* Notes the same for a mutex or spin lock, which the thread then holds. */
void hidden_use_acquire_exclusive(struct sync_object *object);
/* Notes that the calling thread's next event may come after an unrecorded use of the object. */
void hidden_use_mark_uncertain(const struct sync_object *object);
/* Called when a recorded call has acquired the object. alone: each later holder acquires it after
 * this thread. */
void hidden_use_check_acquired(struct sync_object *object, struct traced_thread *thread,
                               bool alone);
static inline void hidden_use_check(struct sync_object *o, struct traced_thread *thread, bool alone)
{
    if (UNLIKELY(o->hidden))
        hidden_use_check_acquired(o, thread, alone);
}

/* Value of a process-private semaphore. A unit that is consumed without a recorded post proves a
 * hidden post: hidden_use_consume_unit() returns true. */
void hidden_use_set_units(sem_t *semaphore, unsigned value);
void hidden_use_add_units(struct sync_object *object, int units);
bool hidden_use_consume_unit(struct sync_object *object);

#pragma GCC visibility pop
#endif
