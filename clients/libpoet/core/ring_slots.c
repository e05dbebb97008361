#define _GNU_SOURCE
#include "clients/libpoet/core/ring_slots.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* ---- growth: a full queue is replaced by a larger one, so that a burst need not wait for the
 * server, which takes what is in the old one first ---- All functions called here are
 * async-signal-safe. */

#define GROWS_BY 16u
#define GROWN_SLOTS ((16u << 20) / SLOT_BYTES) /* of one thread */
#define GROWN_BYTES ((uint64_t)256 << 20) /* of all threads */

static _Atomic uint64_t queue_grow_total; /* bytes */

static size_t queue_grow_bytes(const struct queue_head *queue)
{
    return QUEUE_HEAD_BYTES + (size_t)queue->slots * SLOT_BYTES;
}

static void queue_grow_unmap(const struct queue_head *queue)
{
    if (queue->follows)
        atomic_fetch_sub(&queue_grow_total, queue_grow_bytes(queue));
}

/* Drops the previous queue once the server has taken its content. Returns false if it has not. */
static bool queue_grow_drop_older(struct traced_thread *t)
{
    if (t->older_queue.queue && atomic_load(&t->older_queue.queue->tail) != t->older_queue.head)
        return false;
    queue_drop_older(&t->older_queue);
    return true;
}

void queue_drop_older(struct older_queue *older)
{
    if (!older->queue)
        return;
    queue_grow_unmap(older->queue);
    munmap(older->queue, queue_grow_bytes(older->queue));
    older->queue = NULL;
}

void queue_grow_forget(const struct traced_thread *t) { queue_grow_unmap(t->queue); }
void queue_grow_forked(void) { atomic_store(&queue_grow_total, 0); }

/* Announces it to the server. Returns false if that is not possible now. */
static bool queue_grow_send(int fd, const struct traced_thread *t, uint32_t slots)
{
    uint8_t message[MESSAGE_FRAME_BYTES + 4];
    struct encoder out = {.data = message, .room = sizeof message};
    encoder_begin_message(&out, MESSAGE_THREAD);
    encode_thread(&out, &(struct thread_message){slots});
    encoder_end_message(&out);
    return server_send_at_once(&out, fd, t->life);
}

static void queue_grow_switch_to(struct traced_thread *t, struct queue_head *queue)
{
    struct queue_head *before = t->queue;
    ring_slots_last(t);
    t->older_queue.head = t->head;
    t->older_queue.queue = before;
    queue_prepare(t, queue, queue->slots);
    t->head = t->tail = t->last_head = 0;
    atomic_store_explicit(&before->done, QUEUE_CONTINUED, memory_order_release);
}

static bool queue_grow_create(struct traced_thread *t, uint32_t slots)
{
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    int fd = queue_memory(bytes);
    struct queue_head *queue =
        fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bool made = queue != MAP_FAILED;
    if (made) {
        *queue = (struct queue_head){.magic = QUEUE_MAGIC,
                                     .version = WIRE_VERSION,
                                     .slots = slots,
                                     .thread = t->queue->thread,
                                     .clock = t->queue->clock,
                                     .wanted = atomic_load(&t->queue->wanted),
                                     .tid = t->queue->tid,
                                     .follows = 1,
                                     .asleep = 1};
        made = queue_grow_send(fd, t, slots);
        if (made)
            queue_grow_switch_to(t, queue);
        else
            munmap(queue, bytes);
    }
    if (fd >= 0)
        close(fd);
    return made;
}

/* Makes a larger queue for a thread with a full one. Returns false if there is none now. */
static bool queue_grow(struct traced_thread *t)
{
    uint64_t now = t->mask + 1, slots = now * GROWS_BY < GROWN_SLOTS ? now * GROWS_BY : GROWN_SLOTS;
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (!queue_may_grow(t) || slots <= now || !t->queue->thread || !queue_grow_drop_older(t))
        return false;
    int saved = errno, cancelling;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    bool made = atomic_fetch_add(&queue_grow_total, bytes) + bytes <= GROWN_BYTES &&
                queue_grow_create(t, (uint32_t)slots);
    if (!made)
        atomic_fetch_sub(&queue_grow_total, bytes);
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
    return made;
}

/* ---- room ---- */

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
