/* Slots of the calling thread's queue: is there room, writing them, and handing them over.
 *
 * The thread alone writes it; a server on another core reads it.  What is here is called while the
 * thread is busy. */
#ifndef CLIENTS_LIBPOET_CORE_RING_SLOTS_H
#define CLIENTS_LIBPOET_CORE_RING_SLOTS_H

#include "clients/libpoet/core/likely.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

static inline bool ring_slots_fit(struct traced_thread *t, uint64_t slots)
{
    if (LIKELY(t->head + slots - t->tail <= t->mask + 1))
        return true;
    t->tail = atomic_load_explicit(&t->queue->tail, memory_order_acquire);
    return t->head + slots - t->tail <= t->mask + 1;
}

/* The queue is full: wait for the server, but only up to the bound, and once a stall.  False: there
 * is no room. */
bool ring_slots_wait(struct traced_thread *thread, uint64_t slots);

static inline struct ring_slot *ring_slots_get(struct traced_thread *t, uint64_t i)
{
    return &t->slots[i & t->mask];
}

static inline void ring_slots_publish(struct traced_thread *t, uint64_t slots)
{
    uint64_t before = t->head;
    t->head += slots;
    atomic_store_explicit(&t->queue->head, t->head, memory_order_release);
    uint64_t half = (t->mask + 1) / 2; /* a power of two */
    if (!LIKELY(!((before ^ t->head) & half)) &&
        atomic_load_explicit(&t->queue->asleep, memory_order_relaxed)) {
        int saved = errno;
        server_wake();
        errno = saved;
    }
}

/* Behind the slot that the thread writes now, so many bytes after it: whole sixteens. */
void ring_slots_put_payload(struct traced_thread *thread, uint32_t behind, const void *payload,
                            uint32_t bytes);
/* A whole control, a message body of that type; false: there is no room. */
bool ring_slots_control(struct traced_thread *thread, enum message_type type,
                        const struct encoder *body);
/* The thread's last event; line 0: none. */
struct event_id ring_slots_last(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
