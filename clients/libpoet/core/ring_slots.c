#define _GNU_SOURCE
#include "clients/libpoet/core/ring_slots.h"

#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/environment.h"
#include "clients/libpoet/core/queue_grow.h"

#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Touching new memory takes longer than waiting for a server that keeps up: a queue that is already
 * large grows only once the server has been found not to keep up. */
#define LARGE_SLOTS ((4u << 20) / SLOT_BYTES)
#define TIMEOUT_NS 5000000u

static bool ring_slots_may_wait(const struct traced_thread *t, uint64_t limit)
{
    return t->mask + 1 >= LARGE_SLOTS && !t->stalled && limit > TIMEOUT_NS;
}

static void ring_slots_wait_for_server(struct traced_thread *t, uint32_t moved, uint64_t most)
{
    most = most < 10000000 ? most : 10000000;
    server_wake(); /* checks, too, whether the server is there */
    syscall(SYS_futex, &t->queue->moved, FUTEX_WAIT, moved, &(struct timespec){0, (long)most}, NULL,
            0);
}

bool ring_slots_wait(struct traced_thread *t, uint64_t slots)
{
    uint64_t limit = (uint64_t)server_wait_ms() * 1000000u;
    bool patient = ring_slots_may_wait(t, limit);
    if (!patient && queue_grow(t)) {
        t->stalled = false;
        return ring_slots_fit(t, slots);
    }
    if (t->stalled || slots > t->mask + 1)
        return false;
    int saved = errno;
    int cancelling; /* a lock is not a cancellation point, so this sleep must not be one */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    uint64_t begin = tracer_clock_now(), now = begin;
    atomic_store(&t->queue->waiting, 1);
    while (now - begin < limit && server_alive()) {
        uint32_t moved = atomic_load(&t->queue->moved);
        if (ring_slots_fit(t, slots))
            break;
        if (patient && now - begin >= TIMEOUT_NS) {
            atomic_store(&t->queue->waiting, 0);
            patient = false;
            queue_grow(t);
            atomic_store(&t->queue->waiting, 1);
            continue;
        }
        ring_slots_wait_for_server(t, moved, (patient ? TIMEOUT_NS : limit) - (now - begin));
        now = tracer_clock_now();
    }
    atomic_store(&t->queue->waiting, 0);
    atomic_store_explicit(&t->queue->waited_ns,
                          atomic_load_explicit(&t->queue->waited_ns, memory_order_relaxed) + now -
                              begin,
                          memory_order_relaxed);
    t->stalled = !ring_slots_fit(t, slots);
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
    return !t->stalled;
}

void ring_slots_put_payload(struct traced_thread *t, uint32_t behind, const void *payload,
                            uint32_t bytes)
{
    const char *from = payload;
    for (uint32_t done = 0, most; done < bytes; done += most) {
        uint32_t at = (behind + done) % SLOT_BYTES, rest = bytes - done;
        most = SLOT_BYTES - at < rest ? SLOT_BYTES - at : rest;
        memcpy((char *)ring_slots_get(t, t->head + 1 + (behind + done) / SLOT_BYTES) + at,
               from + done, most);
    }
}

/* Returns the last event: the hot path leaves it in the newest slot: a pair, the last event on line
 * b. */
struct event_id ring_slots_last(struct traced_thread *t)
{
    if (t->last_head != t->head) {
        const struct ring_slot *slot = ring_slots_get(t, t->head - 1);
        t->last = (struct event_id){slot->line_b, slot->number_b};
        t->last_head = t->head;
    }
    return t->last;
}

bool ring_slots_control(struct traced_thread *t, enum message_type type, const struct encoder *body)
{
    uint64_t slots = 1 + slot_follow((uint32_t)body->size);
    if (body->failed || (!ring_slots_fit(t, slots) && !ring_slots_wait(t, slots)))
        return false;
    ring_slots_last(t);
    *ring_slots_get(t, t->head) = (struct ring_slot){
        .shape = SHAPE_CONTROL, .flags = (uint16_t)type, .payload_bytes = (uint32_t)body->size};
    ring_slots_put_payload(t, 0, body->data, (uint32_t)body->size);
    ring_slots_publish(t, slots);
    t->last_head = t->head;
    return true;
}
