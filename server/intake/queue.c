/* The shared queues of programs, read.  Nothing in them is trusted. */
#define _GNU_SOURCE
#include "server/intake/queue.h"

#include "memory/memory.h"
#include "wire/limits.h"
#include "wire/message.h"

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

/* The newest queue of the same thread comes before it. */
static void follow(struct queue *queue, uint32_t thread)
{
    for (struct queue *q = queue->next; q; q = q->next)
        if (q->head->thread == thread) {
            q->followed = true;
            queue->after = q;
            return;
        }
}

const char *queue_add(struct queue **list, int fd, uint32_t slots)
{
    struct stat st;
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (!sealed(fd))
        return "a queue that is not sealed";
    if (slots < 2 || (slots & (slots - 1)) || bytes > LIMIT_QUEUE_BYTES + QUEUE_HEAD_BYTES ||
        fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes)
        return "a queue of an impossible size";
    struct queue_head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a queue that cannot be mapped";
    if (head->magic != QUEUE_MAGIC) {
        munmap(head, bytes);
        return "a queue without its magic number";
    }
    struct queue *queue = memory_zeroed(1, sizeof *queue);
    queue->head = head;
    queue->bytes = bytes;
    queue->slots = slots;
    queue->next = *list;
    if (head->follows)
        follow(queue, head->thread);
    *list = queue;
    return NULL;
}

void queue_free(struct queue *queue)
{
    munmap(queue->head, queue->bytes);
    free(queue);
}

unsigned queue_convert(const struct queue *queue, struct ticks *ticks, struct slot *slots,
                       size_t count)
{
    bool counted = queue->head->clock == QUEUE_CLOCK_TICKS && ticks_known();
    unsigned what = 0;
    if (counted)
        do
            ticks_read(ticks);
        while (ticks->count < 2); /* a millisecond, once */
    struct ticks_span span = {.from = 1};
    size_t i = 0;
    for (size_t size; (size = slots_next(slots + i, count - i)) != 0; i += size) {
        uint64_t time = slots[i].time_ns;
        if (slots[i].shape == SHAPE_CONTROL) {
            what |= slots[i].flags == MESSAGE_DESCRIBE ? SLOTS_DESCRIBE : 0;
        } else if (counted) {
            if (!ticks_holds(&span, time))
                span = ticks_span(ticks, time);
            slots[i].time_ns = ticks_within(&span, time);
        }
    }
    return i < count ? what | SLOTS_BROKEN : what;
}

#define RECORD_SLOTS (1 + LIMIT_PAYLOAD_BYTES / SLOT_BYTES) /* the longest record */

/* How many of the slots that were copied make whole records, up to `most` but at least one, if it is there. */
static size_t whole_records(const struct slot *slots, size_t count, size_t most, uint64_t horizon)
{
    size_t whole = 0;
    for (size_t size; (size = slots_next(slots + whole, count - whole)) != 0; whole += size)
        if (whole && (whole + size > most ||
                      (slots[whole].shape != SHAPE_CONTROL && slots[whole].time_ns > horizon)))
            break;
    return whole;
}

/* It goes over what the program may change meanwhile: nothing is believed of it. */
bool queue_times(const struct queue *queue, size_t most, uint64_t *first, uint64_t *last)
{
    const volatile struct slot *slots =
        (const struct slot *)((const char *)queue->head + QUEUE_HEAD_BYTES);
    bool any = false;
    most = most < queue->there ? most : queue->there;
    for (uint64_t i = 0; i < most;) {
        const volatile struct slot *slot = &slots[(queue->tail + i) & (queue->slots - 1)];
        if (slot->shape != SHAPE_CONTROL) {
            *last = slot->time_ns;
            *first = any ? *first : *last;
            any = true;
        }
        i += 1 + slot_follow(slot->payload_bytes);
    }
    return any;
}

bool queue_look(struct queue *queue)
{
    queue->done = atomic_load_explicit(&queue->head->done, memory_order_acquire);
    queue->there = atomic_load_explicit(&queue->head->head, memory_order_acquire) - queue->tail;
    queue->there = queue->after ? 0 : queue->there;
    queue->thread = queue->head->thread;
    queue->waited_ns = atomic_load_explicit(&queue->head->waited_ns, memory_order_relaxed);
    queue->dropped = atomic_load_explicit(&queue->head->dropped, memory_order_relaxed);
    queue->unfollowed = atomic_load_explicit(&queue->head->unfollowed, memory_order_relaxed);
    return queue->there <= queue->slots;
}

size_t queue_copy(const struct queue *queue, struct slot *to, size_t most, size_t room,
                  uint64_t horizon)
{
    most = most < room ? most : room;
    size_t count = queue->there, limit = room - most < RECORD_SLOTS ? room : most + RECORD_SLOTS;
    count = count < limit ? count : limit;
    const struct slot *slots = (const struct slot *)((const char *)queue->head + QUEUE_HEAD_BYTES);
    uint64_t first = queue->tail & (queue->slots - 1);
    uint64_t run = queue->slots - first < count ? queue->slots - first : count;
    memcpy(to, slots + first, run * SLOT_BYTES);
    memcpy(to + run, slots, (count - run) * SLOT_BYTES);
    if (count == queue->there && horizon == UINT64_MAX)
        return count;
    size_t whole = whole_records(to, count, most, horizon);
    return whole || (count < RECORD_SLOTS && count < queue->there) ? whole : count;
}

/* The thread looks at `moved` after it has said that it waits, we the other way round. */
void queue_give_room(struct queue *q)
{
    atomic_store_explicit(&q->head->tail, q->tail, memory_order_release);
    atomic_fetch_add(&q->head->moved, 1);
    if (atomic_load(&q->head->waiting))
        syscall(SYS_futex, &q->head->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
}
