/* The shared queues of programs, read.  Nothing in them is trusted. */
#define _GNU_SOURCE
#include "server/intake/queue.h"

#include "memory/map.h"
#include "wire/limits.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *queue_add(struct queue **list, int fd, uint32_t slots)
{
    struct stat st;
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (!sealed(fd))
        return "a queue that is not sealed";
    if (slots < 2 || (slots & (slots - 1)) || bytes > LIMIT_QUEUE_BYTES + QUEUE_HEAD_BYTES || fstat(fd, &st) < 0 ||
        (uint64_t)st.st_size < bytes)
        return "a queue of an impossible size";
    struct queue_head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct queue *queue = head == MAP_FAILED ? NULL : calloc(1, sizeof *queue);
    if (!queue)
        return "a queue that cannot be mapped";
    if (head->magic != QUEUE_MAGIC) {
        munmap(head, bytes);
        free(queue);
        return "a queue without its magic number";
    }
    queue->head = head;
    queue->bytes = bytes;
    queue->slots = slots;
    queue->next = *list;
    *list = queue;
    return NULL;
}

void queue_free(struct queue *queue)
{
    munmap(queue->head, queue->bytes);
    free(queue->batch);
    free(queue);
}

/* What a program stamped with the counter, in nanoseconds. */
static void convert_times(struct queue *queue, struct ticks *ticks)
{
    do
        ticks_read(ticks);
    while (ticks->count < 2); /* a millisecond, once */
    for (size_t i = 0, size; (size = slots_next(queue->batch + i, queue->batch_count - i)) != 0; i += size)
        if (queue->batch[i].shape != SHAPE_CONTROL)
            queue->batch[i].time_ns = ticks_ns(ticks, queue->batch[i].time_ns);
}

#define RECORD_SLOTS (1 + LIMIT_PAYLOAD_BYTES / SLOT_BYTES) /* the longest record */

/* How many of the slots that were copied make whole records, up to `most` but at least one.  What makes
 * none is left to be refused by whoever reads it. */
static uint64_t whole_records(const struct slot *slots, uint64_t count, uint64_t most)
{
    uint64_t whole = 0;
    for (size_t size; (size = slots_next(slots + whole, count - whole)) != 0; whole += size)
        if (whole && whole + size > most)
            break;
    return whole ? whole : count;
}

bool queue_copy(struct queue *queue, struct ticks *ticks, size_t most)
{
    queue->done = atomic_load_explicit(&queue->head->done, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&queue->head->head, memory_order_acquire);
    uint64_t count = head - queue->tail;
    queue->thread = queue->head->thread;
    queue->waited_ns = atomic_load_explicit(&queue->head->waited_ns, memory_order_relaxed);
    queue->dropped = atomic_load_explicit(&queue->head->dropped, memory_order_relaxed);
    queue->unfollowed = atomic_load_explicit(&queue->head->unfollowed, memory_order_relaxed);
    queue->batch_count = 0;
    queue->behind = false;
    if (count > queue->slots)
        return false;
    if (count == 0)
        return true;
    uint64_t there = count, room = most + RECORD_SLOTS;
    count = count < room ? count : room;
    queue->batch = grow(queue->batch, &queue->batch_room, count, SLOT_BYTES);
    const struct slot *slots =
        (const struct slot *)((const char *)queue->head + QUEUE_HEAD_BYTES);
    uint64_t first = queue->tail & (queue->slots - 1);
    uint64_t run = queue->slots - first < count ? queue->slots - first : count;
    memcpy(queue->batch, slots + first, run * SLOT_BYTES);
    memcpy(queue->batch + run, slots, (count - run) * SLOT_BYTES);
    queue->batch_count = count < there ? whole_records(queue->batch, count, most) : count;
    queue->behind = queue->batch_count < there;
    if (queue->head->clock == QUEUE_CLOCK_TICKS && ticks_known())
        convert_times(queue, ticks);
    return true;
}

/* The thread looks at `moved` after it has said that it waits, we the other way round. */
void queue_give_room(struct queue *q)
{
    atomic_store_explicit(&q->head->tail, q->tail, memory_order_release);
    atomic_fetch_add(&q->head->moved, 1);
    if (atomic_load(&q->head->waiting))
        syscall(SYS_futex, &q->head->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
}
