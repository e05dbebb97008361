/* Writing slots into the calling thread's queue: the only hot path. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"

#include <errno.h>
#include <string.h>

_Atomic bool recorded;
_Atomic uint64_t dropped;

uint64_t clock_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool fits(struct thread *t, uint64_t slots)
{
    if (LIKELY(t->head + slots - t->tail <= t->mask + 1))
        return true;
    t->tail = atomic_load_explicit(&t->queue->tail, memory_order_acquire);
    return t->head + slots - t->tail <= t->mask + 1;
}

/* The queue is full: wait for the server, but only up to the bound, and once a stall. */
static bool wait_for_room(struct thread *t, uint64_t slots)
{
    if (t->stalled || slots > t->mask + 1)
        return false;
    int cancelling; /* a lock is no cancellation point, so our sleep must not be one */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    uint64_t begin = clock_now(), limit = (uint64_t)server_wait_ms() * 1000000u, now = begin;
    struct timespec pause = {0, 100000};
    server_wake();
    while (now - begin < limit && server_alive()) {
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 800000)
            pause.tv_nsec *= 2;
        now = clock_now();
        if (fits(t, slots))
            break;
    }
    atomic_store_explicit(&t->queue->waited_ns,
                          atomic_load_explicit(&t->queue->waited_ns, memory_order_relaxed) + now -
                              begin,
                          memory_order_relaxed);
    t->stalled = !fits(t, slots);
    pthread_setcancelstate(cancelling, NULL);
    return !t->stalled;
}

static struct slot *slot_at(struct thread *t, uint64_t i) { return &t->slots[i & t->mask]; }

static void write_payload(struct thread *t, const void *payload, uint32_t bytes)
{
    const char *from = payload;
    for (uint32_t i = 0; i * SLOT_BYTES < bytes; i++) {
        uint32_t rest = bytes - i * SLOT_BYTES;
        memcpy(slot_at(t, t->head + 1 + i), from + (size_t)i * SLOT_BYTES,
               rest < SLOT_BYTES ? rest : SLOT_BYTES);
    }
}

static void publish(struct thread *t, uint64_t slots)
{
    uint64_t before = t->head;
    t->head += slots;
    atomic_store_explicit(&t->queue->head, t->head, memory_order_release);
    uint64_t half = (t->mask + 1) / 2;
    if (before / half != t->head / half &&
        atomic_load_explicit(&t->queue->asleep, memory_order_relaxed))
        server_wake();
}

static void note_lost(struct thread *t, uint32_t line, uint64_t first, uint64_t count)
{
    if (!count)
        return;
    atomic_fetch_add_explicit(&t->queue->dropped, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&dropped, count, memory_order_relaxed);
    for (size_t i = 0; i < t->lost_count; i++) {
        if (t->lost[i].line == line && t->lost[i].first + t->lost[i].count == first) {
            t->lost[i].count += count;
            return;
        }
    }
    if (t->lost_count == LOST_RANGES) {
        t->off_lines = true; /* the server finds the gaps when the program ends */
        return;
    }
    t->lost[t->lost_count++] = (struct lost_range){line, first, count};
}

static bool control(struct thread *t, enum message type, const struct out *body)
{
    uint64_t slots = 1 + slot_follow((uint32_t)body->size);
    if (body->failed || (!fits(t, slots) && !wait_for_room(t, slots)))
        return false;
    *slot_at(t, t->head) = (struct slot){
        .shape = SHAPE_CONTROL, .flags = (uint16_t)type, .payload_bytes = (uint32_t)body->size};
    write_payload(t, body->data, (uint32_t)body->size);
    publish(t, slots);
    return true;
}

/* Announces what was dropped, once there is room again. */
static void announce_lost(struct thread *t)
{
    if (!fits(t, 2 * t->lost_count + 2))
        return;
    t->stalled = false;
    for (size_t i = 0; i < t->lost_count; i++) {
        uint8_t bytes[20];
        struct out body = {.data = bytes, .room = sizeof bytes};
        put_u32(&body, t->lost[i].line);
        put_u64(&body, t->lost[i].first);
        put_u64(&body, t->lost[i].count);
        control(t, MESSAGE_LOST, &body);
    }
    t->lost_count = 0;
}

bool record_control(struct thread *t, enum message type, const struct out *body)
{
    if (t->lost_count)
        announce_lost(t);
    return control(t, type, body);
}

uint64_t record_write(struct thread *t, const struct record *r, uint64_t *first_b)
{
    t->busy = true;
    if (t->lost_count)
        announce_lost(t);
    if (r->site && r->site - t->module_start >= t->module_bytes)
        modules_meet(t, r->site);
    uint64_t slots = 1 + slot_follow(r->payload_bytes);
    bool room = LIKELY(fits(t, slots)) || wait_for_room(t, slots);
    uint64_t a = atomic_fetch_add_explicit(&r->a->number, r->take_a, memory_order_relaxed) + 1;
    uint64_t b = r->partner.number;
    if (r->b && r->take_b)
        b = atomic_fetch_add_explicit(&r->b->number, r->take_b, memory_order_relaxed) + 1;
    uint32_t line_a = atomic_load_explicit(&r->a->index, memory_order_relaxed);
    uint32_t line_b =
        r->b ? atomic_load_explicit(&r->b->index, memory_order_relaxed) : r->partner.line;
    if (LIKELY(room)) {
        *slot_at(t, t->head) = (struct slot){.shape = r->shape,
                                             .flags = r->flags,
                                             .payload_bytes = r->payload_bytes,
                                             .time_ns = clock_now(),
                                             .site = r->site,
                                             .line_a = line_a,
                                             .line_b = line_b,
                                             .number_a = a,
                                             .number_b = b,
                                             .about = r->about,
                                             .count = r->count,
                                             .key = r->key};
        if (r->payload_bytes)
            write_payload(t, r->payload, r->payload_bytes);
        publish(t, slots);
    } else {
        note_lost(t, line_a, a, r->take_a);
        if (r->b)
            note_lost(t, line_b, b, r->take_b);
    }
    if (first_b)
        *first_b = b;
    t->busy = false;
    return a;
}

uint64_t record_event(struct thread *t, uint16_t type, struct line *line, uint32_t about,
                      uintptr_t site)
{
    return record_write(
        t, &(struct record){.shape = type, .a = line, .take_a = 1, .about = about, .site = site},
        NULL);
}
