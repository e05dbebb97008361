#define _GNU_SOURCE
#include "clients/libpoet/core/lost_events.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_arena.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/ring_slots.h"
#include "wire/program_messages.h"

#include <time.h>

static void lost_events_count_thread(struct traced_thread *t, uint64_t count)
{
    atomic_fetch_add_explicit(&t->queue->dropped, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&tracer.events.dropped, count, memory_order_relaxed);
}

void lost_events_count_dropped(struct traced_thread *t, unsigned events)
{
    lost_events_count_thread(t, events);
    t->untraced_reason = UNTRACED_LOST;
    t->lost_events.unnumbered = true;
}

uint64_t lost_events_count_untaken(const struct queue_head *queue, uint64_t tail, uint64_t head)
{
    const struct ring_slot *slots =
        (const struct ring_slot *)((const char *)queue + QUEUE_HEAD_BYTES);
    uint64_t events = 0;
    if (tail > head || head - tail > queue->slots)
        return 0;
    while (tail < head) {
        const struct ring_slot *slot = &slots[tail & (queue->slots - 1)];
        events += slot->shape == SHAPE_CONTROL ? 0 : type_code_event_count(slot->shape);
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
    return queue ? lost_events_count_untaken(queue, atomic_load(&queue->tail), head) : 0;
}

#define LOOK_NS 1000000

/* Waits a moment to find out whether there is enough room, if there is little. */
static void wait_for_room(const struct traced_thread *t)
{
    uint64_t begin = tracer_clock_now(), limit = (uint64_t)server_wait_ms() * 1000000u;
    while (atomic_load(&t->queue->tail) != t->head && !has_no_room(t->queue) &&
           tracer_clock_now() - begin < limit && server_alive())
        nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
}

uint64_t lost_events_count_no_room(const struct traced_thread *t)
{
    if (!t->queue || tracer.server.needs_socket)
        return 0;
    if (tracer.server.is_scarce)
        wait_for_room(t);
    return has_no_room(t->queue)
               ? atomic_load(&tracer.events.dropped) + waiting_in(t->queue, t->head) +
                     waiting_in(t->older_queue.queue, t->older_queue.head)
               : 0;
}

void lost_events_add(struct traced_thread *t, uint32_t line, uint64_t first, uint64_t count)
{
    if (!count)
        return;
    lost_events_count_thread(t, count);
    struct lost_events *lost = &t->lost_events;
    for (size_t i = 0; i < lost->count; i++) {
        struct lost_range *range = &lost->ranges[i];
        if (range->line == line && range->first + range->count == first) {
            range->count += count;
            return;
        }
    }
    lost->ranges[lost->count++] = (struct lost_range){line, first, count};
}

#define LOST_LEFTOVERS_MAX 65536u /* ranges of all threads, beyond those that each keeps itself */

/* The numbers that a thread took for what it dropped, until they are reported. Other threads report
 * those of threads that have ended before there was room, or that have dropped on more lines than
 * they keep ranges of. */
static latch left_lock;
static _Atomic bool any_left;
/* the lifetime in which a thread ended that had dropped records without numbers */
static _Atomic uint32_t unnumbered_left;
static unsigned left_made; /* under left_lock */
static struct lost_leftover {
    struct lost_leftover *next;
    uint32_t life;
    struct lost_range range;
} *left, *left_free;

/* Returns room for one more, or NULL. */
static struct lost_leftover *lost_events_pop_left(void)
{
    latch_lock(&left_lock);
    struct lost_leftover *l = left_free;
    left_free = l ? l->next : NULL;
    bool more = !l && left_made < LOST_LEFTOVERS_MAX;
    left_made += more;
    latch_unlock(&left_lock);
    return more ? tracer_arena_alloc(sizeof *l) : l;
}

bool lost_events_hand_over(struct traced_thread *t)
{
    while (t->lost_events.count) {
        struct lost_leftover *l = lost_events_pop_left();
        if (!l)
            return false;
        latch_lock(&left_lock);
        *l = (struct lost_leftover){left, t->life, t->lost_events.ranges[--t->lost_events.count]};
        left = l;
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
        latch_unlock(&left_lock);
    }
    return true;
}

void lost_events_thread_end(struct traced_thread *t)
{
    if (t->lost_events.unnumbered) {
        atomic_store(&unnumbered_left, t->life);
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
    }
    lost_events_hand_over(t);
    t->lost_events.count = 0;
}

/* Takes over what other threads left behind, as much as it can keep. */
static void lost_events_adopt_left(struct traced_thread *t)
{
    latch_lock(&left_lock);
    t->lost_events.unnumbered |= atomic_exchange(&unnumbered_left, 0) == t->life;
    while (left && t->lost_events.count + 4 < LOST_RANGES) {
        struct lost_leftover *l = left;
        left = l->next;
        if (l->life == t->life)
            t->lost_events.ranges[t->lost_events.count++] = l->range;
        l->next = left_free;
        left_free = l;
    }
    if (!left)
        atomic_store_explicit(&any_left, false, memory_order_relaxed);
    latch_unlock(&left_lock);
}

void lost_events_forked(void)
{
    latch_reset(&left_lock);
    left = left_free = NULL;
    left_made = 0;
    atomic_store(&any_left, false);
    atomic_store(&unnumbered_left, 0);
    atomic_store(&tracer.events.dropped, 0);
}

static void lost_events_encode(struct encoder *out, const struct lost_range *range)
{
    encode_lost(out, &(struct lost_message){range->line, range->first, range->count});
}

/* The numbers of these events are not known, and so neither are the events that come after them. */
static void lost_events_encode_unnumbered(struct encoder *out)
{
    encode_untraced(
        out, &(struct untraced_message){UNTRACED_LOST, text_view_of("too many concurrent losses")});
}

static void lost_events_send_unnumbered(struct traced_thread *t)
{
    uint8_t bytes[SLOT_BYTES];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    lost_events_encode_unnumbered(&body);
    t->lost_events.unnumbered = !ring_slots_control(t, MESSAGE_UNTRACED, &body);
}

void lost_events_announce(struct traced_thread *t)
{
    if (!ring_slots_fit(t, 2 * t->lost_events.count + 2))
        return;
    t->stalled = false;
    for (size_t i = 0; i < t->lost_events.count; i++) {
        uint8_t bytes[20];
        struct encoder body = {.data = bytes, .room = sizeof bytes};
        lost_events_encode(&body, &t->lost_events.ranges[i]);
        ring_slots_control(t, MESSAGE_LOST, &body);
    }
    t->lost_events.count = 0;
    if (t->lost_events.unnumbered)
        lost_events_send_unnumbered(t);
}

void lost_events_forward(struct traced_thread *t)
{
    busy_begin(t);
    if (t->lost_events.count)
        lost_events_announce(t);
    while (!t->lost_events.count && atomic_load_explicit(&any_left, memory_order_relaxed) &&
           ring_slots_fit(t, 2 * LOST_RANGES + 2)) {
        lost_events_adopt_left(t);
        lost_events_announce(t);
    }
    busy_end(t);
}

#define LOST_BYTES (MESSAGE_FRAME_BYTES + 20u)

/* At the end of the process no other thread follows: what found no room is sent over the
 * connection. */
void lost_events_send(void)
{
    uint8_t bytes[32 * LOST_BYTES];
    uint32_t life = atomic_load(&tracer.lifetime.number);
    bool sent = true;
    latch_lock(&left_lock);
    if (atomic_exchange(&unnumbered_left, 0) == life) {
        struct encoder out = {.data = bytes, .room = sizeof bytes};
        encoder_begin_message(&out, MESSAGE_UNTRACED);
        lost_events_encode_unnumbered(&out);
        encoder_end_message(&out);
        sent = server_send(&out, life);
    }
    while (sent && left) {
        struct encoder out = {.data = bytes, .room = sizeof bytes};
        for (; left && out.size + LOST_BYTES <= sizeof bytes; left = left->next) {
            if (left->life != life)
                continue;
            encoder_begin_message(&out, MESSAGE_LOST);
            lost_events_encode(&out, &left->range);
            encoder_end_message(&out);
        }
        sent = server_send(&out, life);
    }
    latch_unlock(&left_lock);
}
