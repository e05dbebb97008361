/* Events of atomic operations, recorded through poet.h on the line where the thread is. */
#ifndef CLIENTS_LIBPOET_ATOMICS_ATOMIC_EVENTS_H
#define CLIENTS_LIBPOET_ATOMICS_ATOMIC_EVENTS_H

#include "clients/libpoet/atomics/atomic_objects.h"
#include "clients/libpoet/atomics/atomic_thread.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

enum atomic_event {
    ATOMIC_EVENT_STORE,
    ATOMIC_EVENT_UPDATE,
    ATOMIC_EVENT_LOAD,
    ATOMIC_EVENT_FENCE
};

/* Heads that an operation synchronizes with, and that its thread was not after yet. */
struct acquired_heads {
    unsigned count;
    struct release_head heads[ATOMIC_HEADS_MOST];
};

/* A release: its event names the line of an object that is known to be shared, and it is needed in
 * any case if the thread has accessed memory since its last event. */
struct released {
    bool shared, accesses;
};

/* Records that the thread is about to release by an operation on an object, unless its last event
 * says so already. */
void atomic_event_record_release(struct atomic_thread *thread, struct atomic_object *object,
                                 enum atomic_event type, struct released what, const void *site);
/* Records a fence that releases. */
void atomic_event_record_fence(const void *site);
/* Records that the thread has synchronized with these heads, on reading an object or, if that is
 * NULL, at a fence. */
void atomic_event_record_acquire(struct atomic_thread *thread, struct atomic_object *object,
                                 const struct acquired_heads *heads, const void *site);

#pragma GCC visibility pop
#endif
