#define _GNU_SOURCE
#include "clients/trace/core/losses.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/slots.h"
#include "wire/told.h"

#include <time.h>

_Atomic uint64_t dropped;

static void count_dropped(struct thread *t, uint64_t count)
{
    atomic_fetch_add_explicit(&t->queue->dropped, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&dropped, count, memory_order_relaxed);
}

void lost_dropped(struct thread *t, unsigned events)
{
    count_dropped(t, events);
    t->doubt = UNSEEN_LOST;
    t->unnumbered = true;
}

uint64_t lost_untaken(const struct queue_head *queue, uint64_t tail, uint64_t head)
{
    const struct slot *slots = (const struct slot *)((const char *)queue + QUEUE_HEAD_BYTES);
    uint64_t events = 0;
    if (tail > head || head - tail > queue->slots)
        return 0;
    while (tail < head) {
        const struct slot *slot = &slots[tail & (queue->slots - 1)];
        events += slot->shape == SHAPE_CONTROL ? 0 : codes_events(slot->shape);
        tail += 1 + slot_follow(slot->payload_bytes);
    }
    return events;
}

static bool has_no_room(const struct queue_head *queue)
{
    return atomic_load_explicit(&queue->no_room, memory_order_relaxed);
}

static uint64_t waiting_in(const struct queue_head *queue, uint64_t head)
{
    return queue ? lost_untaken(queue, atomic_load(&queue->tail), head) : 0;
}

#define LOOK_NS 1000000

/* Where there is little room it is known a moment later whether there is enough. */
static void wait_for_room(const struct thread *t)
{
    uint64_t begin = clock_now(), limit = (uint64_t)server_wait_ms() * 1000000u;
    while (atomic_load(&t->queue->tail) != t->head && !has_no_room(t->queue) &&
           clock_now() - begin < limit && server_alive())
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
}

uint64_t lost_for_room(const struct thread *t)
{
    if (!t->queue || server_sends)
        return 0;
    if (server_scarce)
        wait_for_room(t);
    return has_no_room(t->queue) ? atomic_load(&dropped) + waiting_in(t->queue, t->head) +
                                       waiting_in(t->older, t->older_head)
                                 : 0;
}

void lost_note(struct thread *t, uint32_t line, uint64_t first, uint64_t count)
{
    if (!count)
        return;
    count_dropped(t, count);
    for (size_t i = 0; i < t->lost_count; i++) {
        if (t->lost[i].line == line && t->lost[i].first + t->lost[i].count == first) {
            t->lost[i].count += count;
            return;
        }
    }
    t->lost[t->lost_count++] = (struct lost_range){line, first, count};
}

#define LEFT_MOST 65536u /* ranges of all threads, beyond what each keeps itself */

/* The numbers that a thread took for what it dropped, on their way into the trace.  Those of
 * threads that have ended before there was room, or that have dropped on more lines than they keep
 * ranges of, are told by others. */
static latch left_lock;
static _Atomic bool any_left;
static _Atomic uint32_t
    unnumbered_left; /* the life in which one ended that dropped records without numbers */
static unsigned left_made; /* under left_lock */
static struct left {
    struct left *next;
    uint32_t life;
    struct lost_range range;
} *left, *left_free;

/* Room for one more, or NULL. */
static struct left *left_take(void)
{
    latch_take(&left_lock);
    struct left *l = left_free;
    left_free = l ? l->next : NULL;
    bool more = !l && left_made < LEFT_MOST;
    left_made += more;
    latch_give(&left_lock);
    return more ? arena_take(sizeof *l) : l;
}

bool lost_hand_over(struct thread *t)
{
    while (t->lost_count) {
        struct left *l = left_take();
        if (!l)
            return false;
        latch_take(&left_lock);
        *l = (struct left){left, t->life, t->lost[--t->lost_count]};
        left = l;
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
        latch_give(&left_lock);
    }
    return true;
}

void lost_leave(struct thread *t)
{
    if (t->unnumbered) {
        atomic_store(&unnumbered_left, t->life);
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
    }
    lost_hand_over(t);
    t->lost_count = 0;
}

/* Takes over what others left behind, as much as it can keep. */
static void take_left(struct thread *t)
{
    latch_take(&left_lock);
    t->unnumbered |= atomic_exchange(&unnumbered_left, 0) == t->life;
    while (left && t->lost_count + 4 < LOST_RANGES) {
        struct left *l = left;
        left = l->next;
        if (l->life == t->life)
            t->lost[t->lost_count++] = l->range;
        l->next = left_free;
        left_free = l;
    }
    if (!left)
        atomic_store_explicit(&any_left, false, memory_order_relaxed);
    latch_give(&left_lock);
}

void lost_forked(void)
{
    latch_reset(&left_lock);
    left = left_free = NULL;
    left_made = 0;
    atomic_store(&any_left, false);
    atomic_store(&unnumbered_left, 0);
    atomic_store(&dropped, 0);
}

static void put_lost(struct out *out, const struct lost_range *range)
{
    put_told_lost(out, &(struct told_lost){range->line, range->first, range->count});
}

/* Nobody can tell by numbers which events these were, and so which others come after them. */
static void put_unnumbered(struct out *out)
{
    put_told_unseen(out,
                    &(struct told_unseen){UNSEEN_LOST, text_of("more at once than were counted")});
}

static void tell_unnumbered(struct thread *t)
{
    uint8_t bytes[SLOT_BYTES];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_unnumbered(&body);
    t->unnumbered = !slots_control(t, MESSAGE_UNSEEN, &body);
}

void lost_announce(struct thread *t)
{
    if (!slots_fit(t, 2 * t->lost_count + 2))
        return;
    t->stalled = false;
    for (size_t i = 0; i < t->lost_count; i++) {
        uint8_t bytes[20];
        struct out body = {.data = bytes, .room = sizeof bytes};
        put_lost(&body, &t->lost[i]);
        slots_control(t, MESSAGE_LOST, &body);
    }
    t->lost_count = 0;
    if (t->unnumbered)
        tell_unnumbered(t);
}

void lost_pass_on(struct thread *t)
{
    busy_begin(t);
    if (t->lost_count)
        lost_announce(t);
    while (!t->lost_count && atomic_load_explicit(&any_left, memory_order_relaxed) &&
           slots_fit(t, 2 * LOST_RANGES + 2)) {
        take_left(t);
        lost_announce(t);
    }
    busy_end(t);
}

#define LOST_BYTES (MESSAGE_FRAME_BYTES + 20u)

/* At the end of the process nobody else comes: what found no room goes by the connection. */
void lost_send(void)
{
    uint8_t bytes[32 * LOST_BYTES];
    uint32_t life = atomic_load(&live);
    bool told = true;
    latch_take(&left_lock);
    if (atomic_exchange(&unnumbered_left, 0) == life) {
        struct out out = {.data = bytes, .room = sizeof bytes};
        out_begin(&out, MESSAGE_UNSEEN);
        put_unnumbered(&out);
        out_end(&out);
        told = server_send(&out, life);
    }
    while (told && left) {
        struct out out = {.data = bytes, .room = sizeof bytes};
        for (; left && out.size + LOST_BYTES <= sizeof bytes; left = left->next) {
            if (left->life != life)
                continue;
            out_begin(&out, MESSAGE_LOST);
            put_lost(&out, &left->range);
            out_end(&out);
        }
        told = server_send(&out, life);
    }
    latch_give(&left_lock);
}
