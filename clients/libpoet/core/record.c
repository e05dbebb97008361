/* Records of events in the calling thread's queue: the only hot path. */
#define _GNU_SOURCE
#include "clients/libpoet/core/record.h"

#include "clients/libpoet/core/lost_events.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/untraced_uses.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/profile/activity.h"
#include "clients/libpoet/profile/cpu_clock.h"
#include "clients/libpoet/profile/region_owner.h"
#include "clients/libpoet/replay/replay_hooks.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <stdatomic.h>

static inline uint64_t record_timestamp(const struct traced_thread *t)
{
    return LIKELY(atomic_load_explicit(&tracer.clock.has_ticks, memory_order_acquire))
               ? CLOCK_TICKS()
               : tracer_clock_now_in_unit(t->queue->clock);
}

uint64_t record_time(const struct traced_thread *t) { return record_timestamp(t); }

/* Returns the time, not earlier than that of the thread's previous record. */
static inline uint64_t record_slot_time(const struct traced_thread *t, const struct record *r,
                                        uint64_t now)
{
    uint64_t began = r->began > t->cpu_clock.recorded_at ? r->began : t->cpu_clock.recorded_at;
    return LIKELY(!r->began) || began > now ? now : began;
}

/* At least every second a thread checks whether the server is there, even if its queue does not
 * fill. */
#define LOOK_NS (1u << 29)
#define LOOK_TICKS (1u << 30)

static void record_poll_server(struct traced_thread *t, uint64_t now)
{
    t->server_check_at = now + (t->queue->clock == QUEUE_CLOCK_TICKS ? LOOK_TICKS : LOOK_NS);
    int saved = errno;
    uint32_t wanted = atomic_load_explicit(&t->queue->wanted, memory_order_relaxed);
    cpu_clock_want(t, (wanted & WANTED_STATES) != 0);
    server_check();
    lost_events_forward(t);
    untraced_use_forward();
    errno = saved;
}

/* Takes numbers on a line that processes share, as long as its object lives; else unused ones. */
static __attribute__((noinline)) uint64_t
record_next_remote_number(struct trace_line *line, _Atomic uint64_t *remote, unsigned count)
{
    uint64_t word = atomic_load_explicit(remote, memory_order_relaxed);
    while (COUNTER_LIFETIME(word) == atomic_load_explicit(&line->lifetime, memory_order_relaxed))
        if (atomic_compare_exchange_weak_explicit(remote, &word, word + count, memory_order_relaxed,
                                                  memory_order_relaxed))
            return COUNTER_NUMBER(word) + 1;
    return atomic_fetch_add_explicit(&line->number, count, memory_order_relaxed) + 1;
}

/* Takes the next number: only the thread itself numbers its own line while it runs; other lines may
 * have several writers. */
static inline uint64_t record_next_number(struct traced_thread *t, struct trace_line *line,
                                          unsigned count)
{
    if (line != t->unshared_line) {
        _Atomic uint64_t *remote = atomic_load_explicit(&line->remote, memory_order_relaxed);
        return LIKELY(!remote)
                   ? atomic_fetch_add_explicit(&line->number, count, memory_order_relaxed) + 1
                   : record_next_remote_number(line, remote, count);
    }
    uint64_t before = atomic_load_explicit(&line->number, memory_order_relaxed);
    atomic_store_explicit(&line->number, before + count, memory_order_relaxed);
    return before + 1;
}

/* Returns whether a line's code belongs to the thread's lifetime: a handler may have begun another
 * one since it was looked up. */
static inline bool is_of(const struct traced_thread *t, const struct trace_line *line)
{
    return atomic_load_explicit(&line->life, memory_order_relaxed) == t->life;
}

/* Returns what a record reports about preceding calls that are not in the trace. */
static inline uint16_t record_consume_doubt(struct traced_thread *t)
{
    unsigned doubt = t->untraced_reason;
    if (LIKELY(!doubt))
        return 0;
    t->untraced_reason = UNTRACED_NONE;
    return SLOT_DOUBT(doubt);
}

/* Adds the call context of the thread, if the slot has room for it. */
static inline void record_add_context(const struct traced_thread *t, struct ring_slot *slot)
{
    if (LIKELY(!t->profile) || slot->count)
        return;
    slot->flags |= SLOT_CONTEXT;
    if (slot_has_context(slot))
        slot->count = region_current_context(t);
    else
        slot->flags &= (uint16_t)~SLOT_CONTEXT;
}

/* What was measured since the last record, to be sent with this one. */
struct record_measured {
    uint32_t bytes;
    bool did; /* including code segments */
    struct activity_record clock;
};

static inline uint32_t record_activity_size(const struct traced_thread *t)
{
    struct thread_profile *m = t->profile;
    if (LIKELY(!m || !m->activity.segments))
        return 0;
    uint32_t wanted = atomic_load_explicit(&t->queue->wanted, memory_order_relaxed);
    return activity_size(m, wanted & (WANTED_REAL | WANTED_CPU));
}

static inline struct record_measured record_measured_now(struct traced_thread *t,
                                                         uint32_t payload_bytes)
{
    struct record_measured measured = {.bytes = record_activity_size(t)};
    measured.did = measured.bytes;
    if (UNLIKELY(t->cpu_clock.gap) && cpu_clock_is_due(&t->cpu_clock, record_timestamp(t))) {
        measured.clock = cpu_clock_now(t);
        measured.bytes = measured.did ? measured.bytes : (uint32_t)sizeof measured.clock;
    }
    if (payload_bytes > LIMIT_PAYLOAD_BYTES - measured.bytes)
        measured = (struct record_measured){0};
    return measured;
}

static struct ring_slot *record_slot(void *t, uint64_t i)
{
    return ring_slots_get(t, ((struct traced_thread *)t)->head + i);
}

static inline void record_skip_activity(const struct traced_thread *t, uint64_t now)
{
    if (t->profile && t->profile->activity.segments)
        activity_skip(t->profile, now);
}

static void record_encode_measured(struct traced_thread *t, const struct record_measured *measured,
                                   uint64_t now)
{
    struct activity_record *head = (void *)record_slot(t, 1);
    if (measured->did)
        activity_write(t->profile, measured->bytes, region_current_context(t), now, record_slot, t);
    else
        record_skip_activity(t, now); /* the clock alone */
    if (!measured->clock.what)
        return;
    if (!measured->did)
        *head = measured->clock;
    head->what |= measured->clock.what;
    head->cpu_ns = measured->clock.cpu_ns;
    t->cpu_clock.restarted = false;
}

/* Prefetches the cache line of a slot for writing: the server has read it on another core. */
static inline void record_reserve_slots(const struct ring_slot *slot)
{
#if defined(__x86_64__) /* a processor without this instruction ignores it */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)slot));
#else
    __builtin_prefetch(slot, 1);
#endif
}

#define SLOTS_AHEAD 8

/* Returns whether the lines still belong to the objects that are there: an object that is
 * initialized while a thread holds it has a new line from then on. */
static inline bool record_places_unchanged(struct traced_thread *t, const struct record *r)
{
    return (LIKELY(!trace_line_is_over(r->a)) || sync_object_renew_line(t, r->a)) &&
           (!r->b || LIKELY(!trace_line_is_over(r->b)) || sync_object_renew_line(t, r->b));
}

uint64_t record_write(struct traced_thread *t, const struct record *r, uint64_t *first_b)
{
    busy_begin(t);
    if (t->life != atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) ||
        !is_of(t, r->a) || (r->b && !is_of(t, r->b))) {
        busy_end(t);
        return 0; /* the connection was lost during the call */
    }
    if (UNLIKELY(!record_places_unchanged(t, r))) {
        busy_end(t);
        return 0;
    }
    if (t->lost_events.count)
        lost_events_announce(t);
    if (t->unreported)
        message_queue_report_untraced(t);
    if (r->site && r->site - t->module_start >= t->module_bytes)
        modules_check_caller(t, r->site);
    uint32_t stack_bytes = r->stack ? (uint32_t)sizeof *r->stack : 0;
    struct record_measured measured = record_measured_now(t, stack_bytes + r->payload_bytes);
    uint32_t bytes = measured.bytes + stack_bytes + r->payload_bytes;
    uint64_t slots = 1 + slot_follow(bytes);
    bool room = LIKELY(ring_slots_fit(t, slots)) || ring_slots_wait(t, slots);
    if (LIKELY(room))
        for (uint64_t i = 0; i < slots && i < 2; i++)
            record_reserve_slots(ring_slots_get(t, t->head + SLOTS_AHEAD + i));
    /* numbers that could not be announced are not taken */
    if (!room && t->lost_events.count + 2 > LOST_RANGES && !lost_events_hand_over(t)) {
        lost_events_count_dropped(t, r->take_a + (r->b ? r->take_b : 0));
        busy_end(t);
        return 0;
    }
    replay_hook_before_record(t, r);
    uint64_t a = record_next_number(t, r->a, r->take_a);
    uint64_t b = r->partner.number;
    if (r->b && r->take_b)
        b = record_next_number(t, r->b, r->take_b);
    uint32_t line_a = atomic_load_explicit(&r->a->index, memory_order_relaxed);
    uint32_t line_b =
        r->b ? atomic_load_explicit(&r->b->index, memory_order_relaxed) : r->partner.line;
    uint64_t now = record_timestamp(t);
    if (LIKELY(room)) {
        uint16_t doubt = r->flags & SLOT_DOUBT(UINT16_MAX) ? 0 : record_consume_doubt(t);
        *ring_slots_get(t, t->head) =
            (struct ring_slot){.shape = r->shape,
                               .flags = r->flags | doubt | (measured.bytes ? SLOT_MEASURED : 0) |
                                        (r->stack ? SLOT_STACK : 0),
                               .payload_bytes = bytes,
                               .time_ns = record_slot_time(t, r, now),
                               .site = r->site,
                               .line_a = line_a,
                               .line_b = line_b,
                               .number_a = a,
                               .number_b = b,
                               .about = r->about,
                               .count = r->count,
                               .key = r->key};
        record_add_context(t, ring_slots_get(t, t->head));
        if (LIKELY(!measured.bytes))
            record_skip_activity(t, now);
        else
            record_encode_measured(t, &measured, now);
        if (r->stack)
            ring_slots_put_payload(t, measured.bytes, r->stack, stack_bytes);
        if (r->payload_bytes)
            ring_slots_put_payload(t, measured.bytes + stack_bytes, r->payload, r->payload_bytes);
        ring_slots_publish(t, slots);
    } else {
        lost_events_add(t, line_a, a, r->take_a);
        if (r->b)
            lost_events_add(t, line_b, b, r->take_b);
    }
    t->last = r->b ? (struct event_id){line_b, b + r->take_b - 1}
                   : (struct event_id){line_a, a + r->take_a - 1};
    t->last_head = t->head;
    t->cpu_clock.recorded_at = now;
    replay_hook_after_record(t, r, a, b);
    if (first_b)
        *first_b = b;
    if (now >= t->server_check_at)
        record_poll_server(t, now);
    busy_end(t);
    return a;
}

/* Writes to the next slot, which is free, at a time that was read before. The server reads the
 * stores on another core, so numbers are taken before storing, since an atomic operation waits for
 * earlier stores. */
static inline void record_encode_pair(struct traced_thread *t, uint16_t shape, struct trace_line *a,
                                      unsigned take_a, struct trace_line *b, uintptr_t site,
                                      uint64_t now, uint64_t numbers[2])
{
    struct ring_slot *slot = ring_slots_get(t, t->head);
    numbers[0] = record_next_number(t, a, take_a), numbers[1] = record_next_number(t, b, 1);
    slot->shape = shape;
    slot->flags = record_consume_doubt(t);
    slot->payload_bytes = 0;
    slot->time_ns = now;
    slot->site = site;
    slot->line_a = atomic_load_explicit(&a->index, memory_order_relaxed);
    slot->line_b = atomic_load_explicit(&b->index, memory_order_relaxed);
    slot->number_a = numbers[0];
    slot->number_b = numbers[1];
    slot->about = slot->count = 0;
    slot->key = 0;
    record_add_context(t, slot);
    record_skip_activity(t, now);
    ring_slots_publish(t, 1);
    if (UNLIKELY(now >= t->server_check_at))
        record_poll_server(t, now);
}

/* Returns whether a pair is stored without further processing. `a` is where the thread is: no other
 * process has it. */
static inline bool record_is_plain(struct traced_thread *t, const struct trace_line *a,
                                   const struct trace_line *b, uintptr_t site)
{
    return ring_slots_fit(t, 1) && !t->lost_events.count && !t->unreported &&
           site - t->module_start < t->module_bytes &&
           t->life == atomic_load_explicit(&tracer.lifetime.number, memory_order_relaxed) &&
           is_of(t, a) && is_of(t, b) && !trace_line_is_over(b) &&
           (!t->profile || !activity_is_pending(t->profile));
}

/* Writes a pair that is not plain, or that a replay controls. */
static __attribute__((noinline)) void record_pair_slow(struct traced_thread *t, uint16_t shape,
                                                       struct trace_line *a, unsigned take_a,
                                                       struct trace_line *b, uintptr_t site)
{
    const struct record r = {
        .shape = shape, .a = a, .b = b, .take_a = take_a, .take_b = 1, .site = site};
    uint64_t numbers[2];
    if (t->cpu_clock.gap || !record_is_plain(t, a, b, site)) {
        record_write(t, &r, NULL);
        return;
    }
    record_reserve_slots(ring_slots_get(t, t->head + SLOTS_AHEAD));
    replay_hook_before_record(t, &r);
    record_encode_pair(t, shape, a, take_a, b, site, record_timestamp(t), numbers);
    replay_hook_after_record(t, &r, numbers[0], numbers[1]);
}

void record_pair(struct traced_thread *t, uint16_t shape, struct trace_line *a, unsigned take_a,
                 struct trace_line *b, uintptr_t site)
{
    if (UNLIKELY(!record_is_plain(t, a, b, site) || replay_is_active())) {
        record_pair_slow(t, shape, a, take_a, b, site);
        return;
    }
    /* Reading the counter waits for the preceding stores, too: so the time is read first, and the
     * rest runs meanwhile. */
    uint64_t numbers[2];
    record_reserve_slots(ring_slots_get(t, t->head + SLOTS_AHEAD));
    uint64_t now = record_timestamp(t);
    if (UNLIKELY(t->cpu_clock.gap)) {
        if (cpu_clock_is_due(&t->cpu_clock, now)) {
            record_pair_slow(t, shape, a, take_a, b, site);
            return;
        }
        t->cpu_clock.recorded_at = now;
    }
    record_encode_pair(t, shape, a, take_a, b, site, now, numbers);
}

uint64_t record_event(struct traced_thread *t, uint16_t type, struct trace_line *line,
                      uint32_t about, uintptr_t site)
{
    return record_write(
        t, &(struct record){.shape = type, .a = line, .take_a = 1, .about = about, .site = site},
        NULL);
}

void record_request(struct traced_thread *t, uint16_t type, struct trace_line *line, uint32_t about,
                    uintptr_t site)
{
    char text[64];
    size_t length = running_context_text(text, sizeof text);
    struct slot_stack stack;
    record_write(t,
                 &(struct record){.shape = type,
                                  .flags = length ? SLOT_TEXT : 0,
                                  .a = line,
                                  .take_a = 1,
                                  .about = about,
                                  .site = site,
                                  .payload = text,
                                  .payload_bytes = (uint32_t)length,
                                  .stack = site ? wait_stack_read(site, &stack) : NULL},
                 NULL);
}

void record_refused(struct traced_thread *t, const struct trace_line *line, bool requested,
                    uintptr_t site)
{
    record_write(t,
                 &(struct record){.shape = requested ? TYPE_ACQUIRE_FAILED : (int)SHAPE_REFUSED,
                                  .a = thread_place(t),
                                  .take_a = requested ? 1 : 2,
                                  .about = trace_line_index(line),
                                  .site = site},
                 NULL);
}
