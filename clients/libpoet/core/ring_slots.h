/* Slots of the calling thread's queue: checks for room, writes and publishes them. Only the thread
 * writes the queue; a server on another core reads it. All functions must be called while the
 * thread is busy. */
#ifndef CLIENTS_LIBPOET_CORE_RING_SLOTS_H
#define CLIENTS_LIBPOET_CORE_RING_SLOTS_H

#include "base/likely.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/poet.h"
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

/* Makes room in a full queue: by a larger one, or by waiting for the server, up to a bound, and
 * once a stall. Returns false if there is no room. */
bool ring_slots_wait(struct traced_thread *thread, uint64_t slots);

static inline struct ring_slot *ring_slots_get(struct traced_thread *t, uint64_t i)
{
    return &t->slots[i & t->mask];
}

static inline void ring_slots_publish(struct traced_thread *t, uint64_t slots)
{
    uint64_t before = t->head;
    t->head += slots;
    poet_progress++;
    atomic_store_explicit(&t->queue->head, t->head, memory_order_release);
    uint64_t half = (t->mask + 1) / 2; /* a power of two */
    if (UNLIKELY((before ^ t->head) & half) &&
        atomic_load_explicit(&t->queue->asleep, memory_order_relaxed)) {
        int saved = errno;
        server_wake();
        errno = saved;
    }
}

/* Writes a payload behind the slot that the thread is writing, `behind` bytes after it: multiples
 * of 16. */
void ring_slots_put_payload(struct traced_thread *thread, uint32_t behind, const void *payload,
                            uint32_t bytes);
/* Writes a whole control slot, a message body of that type. Returns false if there is no room. */
bool ring_slots_control(struct traced_thread *thread, enum message_type type,
                        const struct encoder *body);
/* Returns the thread's last event; line 0: none. */
struct event_id ring_slots_last(struct traced_thread *thread);

/* ---- a full queue is replaced by a larger one ---- */

void queue_drop_older(struct older_queue *older); /* Unmaps it. */
void queue_grow_forget(const struct traced_thread *thread); /* Called when its queue is done. */
void queue_grow_forked(void); /* Called in a child after fork. */

#pragma GCC visibility pop

#endif
