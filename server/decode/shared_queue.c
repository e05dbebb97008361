/* The shared queues of programs, read.  Nothing in them is trusted. */
#define _GNU_SOURCE
#include "server/decode/shared_queue.h"

#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/profile_snapshot.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool shared_queue_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

/* The newest queue of the same thread comes before it. */
static void shared_queue_link_after(struct shared_queue *queue, uint32_t thread)
{
    for (struct shared_queue *q = queue->next; q; q = q->next)
        if (q->head->thread == thread) {
            q->followed = true;
            queue->after = q;
            return;
        }
}

const char *shared_queue_add(struct shared_queue **list, int fd, uint32_t slots)
{
    struct stat st;
    size_t bytes = QUEUE_HEAD_BYTES + (size_t)slots * SLOT_BYTES;
    if (!shared_queue_is_sealed(fd))
        return "a queue that is not sealed";
    if (slots < 2 || (slots & (slots - 1)) || bytes > LIMIT_QUEUE_BYTES + QUEUE_HEAD_BYTES ||
        fstat(fd, &st) < 0 || (uint64_t)st.st_size < bytes)
        return "a queue of an invalid size";
    struct queue_head *head = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a queue that cannot be mapped";
    if (head->magic != QUEUE_MAGIC) {
        munmap(head, bytes);
        return "a queue without its magic number";
    }
    struct shared_queue *queue = xcalloc(1, sizeof *queue);
    queue->head = head;
    queue->bytes = bytes;
    queue->slots = slots;
    queue->next = *list;
    if (head->follows)
        shared_queue_link_after(queue, head->thread);
    *list = queue;
    return NULL;
}

void shared_queue_free(struct shared_queue *queue)
{
    munmap(queue->head, queue->bytes);
    free(queue);
}

#define RECORD_SLOTS (1 + LIMIT_PAYLOAD_BYTES / SLOT_BYTES) /* the longest record */

/* It goes over what the program may change meanwhile: nothing is believed of it. */
bool shared_queue_times(const struct shared_queue *queue, size_t most, uint64_t *first,
                        uint64_t *last)
{
    const volatile struct ring_slot *slots =
        (const struct ring_slot *)((const char *)queue->head + QUEUE_HEAD_BYTES);
    bool any = false;
    most = most < queue->there ? most : queue->there;
    for (uint64_t i = 0; i < most;) {
        const volatile struct ring_slot *slot = &slots[(queue->tail + i) & (queue->slots - 1)];
        if (slot->shape != SHAPE_CONTROL) {
            *last = slot->time_ns;
            *first = any ? *first : *last;
            any = true;
        }
        i += 1 + slot_follow(slot->payload_bytes);
    }
    return any;
}

bool shared_queue_available(struct shared_queue *queue)
{
    uint32_t done = atomic_load_explicit(&queue->head->done, memory_order_acquire);
    queue->done = done;
    queue->continued = done == QUEUE_CONTINUED;
    queue->there = atomic_load_explicit(&queue->head->head, memory_order_acquire) - queue->tail;
    queue->there = queue->after ? 0 : queue->there;
    queue->thread = queue->head->thread;
    queue->waited_ns = atomic_load_explicit(&queue->head->waited_ns, memory_order_relaxed);
    queue->dropped = atomic_load_explicit(&queue->head->dropped, memory_order_relaxed);
    queue->unfollowed = atomic_load_explicit(&queue->head->unfollowed, memory_order_relaxed);
    return queue->there <= queue->slots;
}

/* Slots on their way out of a queue. */
struct slot_copy_state {
    const struct shared_queue *queue;
    struct ring_slot *to;
    size_t count, copied; /* so many are to be there, are there */
    size_t walked;        /* of them, those that make records */
    struct tsc_clock *ticks;  /* NULL: times stay as they are */
    struct tsc_clock_range span;
    unsigned what;
};

#define AT_ONCE 128u /* slots: what is copied is looked at while it is in the nearest cache */

static void copy_up_to(struct slot_copy_state *c, size_t end)
{
    const struct shared_queue *q = c->queue;
    const struct ring_slot *slots =
        (const struct ring_slot *)((const char *)q->head + QUEUE_HEAD_BYTES);
    while (c->copied < end) {
        uint64_t first = (q->tail + c->copied) & (q->slots - 1), run = end - c->copied;
        run = run < q->slots - first ? run : q->slots - first;
        memcpy(c->to + c->copied, slots + first, run * SLOT_BYTES);
        c->copied += run;
    }
}

/* The next record's size, 0: none follows, or no whole one. */
static size_t next_record(struct slot_copy_state *c)
{
    if (c->walked >= c->count)
        return 0;
    if (c->walked >= c->copied)
        copy_up_to(c, c->walked + AT_ONCE < c->count ? c->walked + AT_ONCE : c->count);
    return slot_next_record(c->to + c->walked, c->count - c->walked);
}

/* What steps took, so that their sum is right. */
static void note_steps(struct slot_copy_state *c, struct ring_slot *slot)
{
    copy_up_to(c, c->walked + 1 + slot_follow(slot->payload_bytes));
    struct code_segment *steps = (void *)((char *)(slot + 1) + sizeof(struct activity_record));
    size_t bytes = activity_record_bytes(slot), count = 0;
    if (bytes != SIZE_MAX)
        count = (bytes - sizeof(struct activity_record)) / sizeof *steps;
    double rate = tsc_clock_rate(c->ticks), ticks = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        ticks += (double)steps[i].ticks;
        double ns = ticks * rate + .5;
        uint64_t now = ns < (double)SNAPSHOT_TIME_MOST ? (uint64_t)ns : SNAPSHOT_TIME_MOST;
        steps[i].ticks = now - before;
        before = now;
    }
}

static void shared_queue_note_slot(struct slot_copy_state *c, struct ring_slot *slot)
{
    if (slot->shape == SHAPE_CONTROL) {
        c->what |= slot->flags == MESSAGE_DESCRIBE ? SLOTS_DESCRIBE : 0;
    } else if (c->ticks) {
        if (!tsc_clock_holds(&c->span, slot->time_ns))
            c->span = tsc_clock_span(c->ticks, slot->time_ns);
        slot->time_ns = tsc_clock_within(&c->span, slot->time_ns);
        if (slot->flags & SLOT_MEASURED)
            note_steps(c, slot);
    }
}

static bool is_beyond(const struct slot_copy_state *c, size_t size,
                      const struct shared_queue_request *want)
{
    const struct ring_slot *slot = &c->to[c->walked];
    return c->walked + size > want->most ||
           (slot->shape != SHAPE_CONTROL && slot->time_ns > want->horizon);
}

static struct tsc_clock *ticks_of(const struct shared_queue *queue, struct tsc_clock *ticks)
{
    if (!ticks || queue->head->clock != QUEUE_CLOCK_TICKS || !tsc_clock_known())
        return NULL;
    do
        tsc_clock_read(ticks);
    while (ticks->count < 2); /* a millisecond, once */
    return ticks;
}

size_t shared_queue_copy(const struct shared_queue *queue, struct ring_slot *to,
                         const struct shared_queue_request *want, unsigned *what)
{
    size_t most = want->most < want->room ? want->most : want->room,
           limit = want->room - most < RECORD_SLOTS ? want->room : most + RECORD_SLOTS;
    struct slot_copy_state c = {.queue = queue,
                                .to = to,
                                .count = queue->there < limit ? queue->there : limit,
                                .ticks = ticks_of(queue, want->ticks),
                                .span = {.from = 1}};
    const struct shared_queue_request all = {.most = c.count, .horizon = UINT64_MAX},
                                      part = {.most = most, .horizon = want->horizon},
                                      *bounds =
                                          c.count == queue->there && want->horizon == UINT64_MAX
                                              ? &all
                                              : &part;
    size_t size;
    while ((size = next_record(&c)) != 0 && !(c.walked && is_beyond(&c, size, bounds))) {
        shared_queue_note_slot(&c, &to[c.walked]);
        c.walked += size;
    }
    *what = c.what;
    bool broken = bounds == &all ? c.walked < c.count : !c.walked;
    if (!broken || (bounds != &all && c.count < RECORD_SLOTS && c.count < queue->there)) {
        copy_up_to(&c, c.walked);
        return c.walked;
    }
    copy_up_to(&c, c.count);
    *what |= c.count ? SLOTS_BROKEN : 0;
    return c.count;
}

void shared_queue_announce_space(struct shared_queue *q, bool room)
{
    if (atomic_load_explicit(&q->head->no_room, memory_order_relaxed) == room)
        atomic_store_explicit(&q->head->no_room, !room, memory_order_relaxed);
}

/* The thread looks at `moved` after it has said that it waits, we the other way round. */
void shared_queue_release(struct shared_queue *q)
{
    atomic_store_explicit(&q->head->tail, q->tail, memory_order_release);
    atomic_fetch_add(&q->head->moved, 1);
    if (atomic_load(&q->head->waiting))
        syscall(SYS_futex, &q->head->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
}
