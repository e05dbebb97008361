/* Replaces a full queue by a larger one, so that a burst need not wait for the server, which takes
 * what is in the old one first. All functions called here are async-signal-safe. */
#define _GNU_SOURCE
#include "clients/libpoet/core/queue_grow.h"

#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/ring_slots.h"
#include "wire/program_messages.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

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

bool queue_grow(struct traced_thread *t)
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
