/* Writing slots into the calling thread's queue: the only hot path. */
#define _GNU_SOURCE
#include "clients/trace/core/record.h"

#include "clients/trace/core/arena.h"
#include "clients/trace/core/clock.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/environ.h"
#include "clients/trace/core/grow.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/core/unseen.h"
#include "wire/event.h"
#include "wire/message.h"
#include "wire/slot.h"
#include "wire/told.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Atomic bool recorded;
_Atomic uint64_t dropped;

static inline uint64_t stamp(const struct thread *t)
{
    return LIKELY(atomic_load_explicit(&clock_ticks, memory_order_acquire))
               ? CLOCK_TICKS()
               : clock_instead(t->queue->clock);
}

/* At least every second a thread looks whether the server is there, though its queue does not fill. */
#define LOOK_NS (1u << 29)
#define LOOK_TICKS (1u << 30)

static void look(struct thread *t, uint64_t now)
{
    t->look_at = now + (t->queue->clock == QUEUE_CLOCK_TICKS ? LOOK_TICKS : LOOK_NS);
    int saved = errno;
    server_look();
    lost_pass_on(t);
    unseen_pass_on();
    errno = saved;
}

/* Only the thread itself numbers its own line while it runs; other lines may have several. */
static inline uint64_t take(struct thread *t, struct line *line, unsigned count)
{
    if (line != t->alone) {
        _Atomic uint64_t *far = atomic_load_explicit(&line->far, memory_order_relaxed);
        return atomic_fetch_add_explicit(LIKELY(!far) ? &line->number : far, count,
                                         memory_order_relaxed) +
               1;
    }
    uint64_t before = atomic_load_explicit(&line->number, memory_order_relaxed);
    atomic_store_explicit(&line->number, before + count, memory_order_relaxed);
    return before + 1;
}

static inline bool fits(struct thread *t, uint64_t slots)
{
    if (LIKELY(t->head + slots - t->tail <= t->mask + 1))
        return true;
    t->tail = atomic_load_explicit(&t->queue->tail, memory_order_acquire);
    return t->head + slots - t->tail <= t->mask + 1;
}

/* Memory that is new takes longer than to wait for a server that has time: a queue that is large already grows
 * once that has shown that it has none. */
#define LARGE_SLOTS ((4u << 20) / SLOT_BYTES)
#define PATIENCE_NS 5000000u

static bool is_patient(const struct thread *t, uint64_t limit)
{
    return t->mask + 1 >= LARGE_SLOTS && !t->stalled && limit > PATIENCE_NS;
}

static void wait_for_move(struct thread *t, uint32_t moved, uint64_t most)
{
    most = most < 10000000 ? most : 10000000;
    server_wake(); /* finds out, too, whether the server is there */
    syscall(SYS_futex, &t->queue->moved, FUTEX_WAIT, moved, &(struct timespec){0, (long)most}, NULL,
            0);
}

/* The queue is full: wait for the server, but only up to the bound, and once a stall. */
static bool wait_for_room(struct thread *t, uint64_t slots)
{
    uint64_t limit = (uint64_t)server_wait_ms() * 1000000u;
    bool patient = is_patient(t, limit);
    if (!patient && queue_grow(t)) {
        t->stalled = false;
        return fits(t, slots);
    }
    if (t->stalled || slots > t->mask + 1)
        return false;
    int saved = errno;
    int cancelling; /* a lock is no cancellation point, so our sleep must not be one */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    uint64_t begin = clock_now(), now = begin;
    atomic_store(&t->queue->waiting, 1);
    while (now - begin < limit && server_alive()) {
        uint32_t moved = atomic_load(&t->queue->moved);
        if (fits(t, slots))
            break;
        if (patient && now - begin >= PATIENCE_NS) {
            atomic_store(&t->queue->waiting, 0);
            patient = false;
            queue_grow(t);
            atomic_store(&t->queue->waiting, 1);
            continue;
        }
        wait_for_move(t, moved, (patient ? PATIENCE_NS : limit) - (now - begin));
        now = clock_now();
    }
    atomic_store(&t->queue->waiting, 0);
    atomic_store_explicit(&t->queue->waited_ns,
                          atomic_load_explicit(&t->queue->waited_ns, memory_order_relaxed) + now -
                              begin,
                          memory_order_relaxed);
    t->stalled = !fits(t, slots);
    pthread_setcancelstate(cancelling, NULL);
    errno = saved;
    return !t->stalled;
}

static inline struct slot *slot_at(struct thread *t, uint64_t i) { return &t->slots[i & t->mask]; }

static void write_payload(struct thread *t, const void *payload, uint32_t bytes)
{
    const char *from = payload;
    for (uint32_t i = 0; i * SLOT_BYTES < bytes; i++) {
        uint32_t rest = bytes - i * SLOT_BYTES;
        memcpy(slot_at(t, t->head + 1 + i), from + (size_t)i * SLOT_BYTES,
               rest < SLOT_BYTES ? rest : SLOT_BYTES);
    }
}

static inline void publish(struct thread *t, uint64_t slots)
{
    uint64_t before = t->head;
    t->head += slots;
    atomic_store_explicit(&t->queue->head, t->head, memory_order_release);
    uint64_t half = (t->mask + 1) / 2; /* a power of two */
    if (!LIKELY(!((before ^ t->head) & half)) &&
        atomic_load_explicit(&t->queue->asleep, memory_order_relaxed)) {
        int saved = errno;
        server_wake();
        errno = saved;
    }
}

static void count_dropped(struct thread *t, uint64_t count)
{
    atomic_fetch_add_explicit(&t->queue->dropped, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&dropped, count, memory_order_relaxed);
}

void record_dropped(struct thread *t, unsigned events)
{
    count_dropped(t, events);
    t->doubt = UNSEEN_LOST;
    t->unnumbered = true;
}

uint64_t record_untaken(const struct queue_head *queue, uint64_t tail, uint64_t head)
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

static void note_lost(struct thread *t, uint32_t line, uint64_t first, uint64_t count)
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

/* The hot path leaves it in its slot, which is the newest one then: a pair, the last on line b. */
struct ref record_last(struct thread *t)
{
    if (t->last_head != t->head) {
        const struct slot *slot = slot_at(t, t->head - 1);
        t->last = (struct ref){slot->line_b, slot->number_b};
        t->last_head = t->head;
    }
    return t->last;
}

/* The numbers that a thread took for what it dropped, on their way into the trace.  Those of threads that
 * have ended before there was room are told by others. */
static latch left_lock;
static _Atomic bool any_left;
static _Atomic uint32_t
    unnumbered_left; /* the life in which one ended that dropped records without numbers */
static struct left {
    struct left *next;
    uint32_t life;
    struct lost_range range;
} *left, *left_free;

void lost_leave(struct thread *t)
{
    if (t->unnumbered) {
        atomic_store(&unnumbered_left, t->life);
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
    }
    for (size_t i = 0; i < t->lost_count; i++) {
        latch_take(&left_lock);
        struct left *l = left_free;
        left_free = l ? l->next : NULL;
        latch_give(&left_lock);
        if (!l && !(l = arena_take(sizeof *l)))
            return;
        latch_take(&left_lock);
        *l = (struct left){left, t->life, t->lost[i]};
        left = l;
        atomic_store_explicit(&any_left, true, memory_order_relaxed);
        latch_give(&left_lock);
    }
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
    atomic_store(&any_left, false);
    atomic_store(&unnumbered_left, 0);
}

static bool control(struct thread *t, enum message type, const struct out *body)
{
    uint64_t slots = 1 + slot_follow((uint32_t)body->size);
    if (body->failed || (!fits(t, slots) && !wait_for_room(t, slots)))
        return false;
    record_last(t);
    *slot_at(t, t->head) = (struct slot){
        .shape = SHAPE_CONTROL, .flags = (uint16_t)type, .payload_bytes = (uint32_t)body->size};
    write_payload(t, body->data, (uint32_t)body->size);
    publish(t, slots);
    t->last_head = t->head;
    return true;
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
    t->unnumbered = !control(t, MESSAGE_UNSEEN, &body);
}

static _Atomic uint32_t told_in[UNSEEN_COUNT]; /* by reason: the last life in which it was */

bool record_is_told(enum unseen reason, const struct thread *t)
{
    return atomic_load_explicit(&told_in[reason], memory_order_relaxed) == t->life;
}

/* Calls that are not in the trace may come before events of any thread: the run says so, once a life. */
static void tell_untold(struct thread *t)
{
    for (unsigned reason = 1; reason < UNSEEN_COUNT; reason++) {
        uint8_t bytes[8];
        struct out body = {.data = bytes, .room = sizeof bytes};
        if (!(t->untold & UNSEEN_BIT(reason)))
            continue;
        put_told_unseen(&body, &(struct told_unseen){(uint8_t)reason, text_of("")});
        if (!record_is_told(reason, t) && !control(t, MESSAGE_UNSEEN, &body))
            continue;
        atomic_store_explicit(&told_in[reason], t->life, memory_order_relaxed);
        __atomic_fetch_and(&t->untold, (uint16_t)~UNSEEN_BIT(reason),
                           __ATOMIC_RELAXED); /* a handler may add */
    }
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
        put_lost(&body, &t->lost[i]);
        control(t, MESSAGE_LOST, &body);
    }
    t->lost_count = 0;
    if (t->unnumbered)
        tell_unnumbered(t);
}

void lost_pass_on(struct thread *t)
{
    busy_begin(t);
    if (t->lost_count)
        announce_lost(t);
    while (!t->lost_count && atomic_load_explicit(&any_left, memory_order_relaxed) &&
           fits(t, 2 * LOST_RANGES + 2)) {
        take_left(t);
        announce_lost(t);
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

bool record_control(struct thread *t, enum message type, const struct out *body)
{
    busy_begin(t);
    if (t->lost_count)
        announce_lost(t);
    bool told = control(t, type, body);
    busy_end(t);
    return told;
}

/* Whether a line's code belongs to the thread's life: a handler may have begun another one since it was
 * looked up. */
static inline bool is_of(const struct thread *t, const struct line *line)
{
    return atomic_load_explicit(&line->life, memory_order_relaxed) == t->life;
}

/* What a record that follows calls that are not in the trace says of it. */
static inline uint16_t take_doubt(struct thread *t)
{
    unsigned doubt = t->doubt;
    if (LIKELY(!doubt))
        return 0;
    t->doubt = UNSEEN_NONE;
    return SLOT_DOUBT(doubt);
}

uint64_t record_write(struct thread *t, const struct record *r, uint64_t *first_b)
{
    busy_begin(t);
    if (t->life != atomic_load_explicit(&live, memory_order_relaxed) || !is_of(t, r->a) ||
        (r->b && !is_of(t, r->b))) {
        busy_end(t);
        return 0; /* its server went while the call was under way */
    }
    if (t->lost_count)
        announce_lost(t);
    if (t->untold)
        tell_untold(t);
    if (r->site && r->site - t->module_start >= t->module_bytes)
        modules_meet(t, r->site);
    uint64_t slots = 1 + slot_follow(r->payload_bytes);
    bool room = LIKELY(fits(t, slots)) || wait_for_room(t, slots);
    if (!room &&
        t->lost_count + 2 > LOST_RANGES) { /* numbers that nobody could announce are not taken */
        record_dropped(t, r->take_a + (r->b ? r->take_b : 0));
        busy_end(t);
        return 0;
    }
    uint64_t a = take(t, r->a, r->take_a);
    uint64_t b = r->partner.number;
    if (r->b && r->take_b)
        b = take(t, r->b, r->take_b);
    uint32_t line_a = atomic_load_explicit(&r->a->index, memory_order_relaxed);
    uint32_t line_b =
        r->b ? atomic_load_explicit(&r->b->index, memory_order_relaxed) : r->partner.line;
    uint64_t now = stamp(t);
    if (LIKELY(room)) {
        uint16_t doubt = r->flags & SLOT_DOUBT(UINT16_MAX) ? 0 : take_doubt(t);
        *slot_at(t, t->head) = (struct slot){.shape = r->shape,
                                             .flags = r->flags | doubt,
                                             .payload_bytes = r->payload_bytes,
                                             .time_ns = now,
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
    t->last =
        r->b ? (struct ref){line_b, b + r->take_b - 1} : (struct ref){line_a, a + r->take_a - 1};
    t->last_head = t->head;
    if (first_b)
        *first_b = b;
    if (now >= t->look_at)
        look(t, now);
    busy_end(t);
    return a;
}

/* Gets the line of a slot for writing: the server, which read it, had it last on another core. */
static inline void get_for_writing(const struct slot *slot)
{
#if defined(__x86_64__) /* where a processor does not know it, it does nothing */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)slot));
#else
    __builtin_prefetch(slot, 1);
#endif
}

#define SLOTS_AHEAD 8

static __attribute__((noinline, cold)) void pair_otherwise(struct thread *t, uint16_t shape,
                                                           struct line *a, unsigned take_a,
                                                           struct line *b, uintptr_t site)
{
    record_write(t,
                 &(struct record){
                     .shape = shape, .a = a, .b = b, .take_a = take_a, .take_b = 1, .site = site},
                 NULL);
}

void record_pair(struct thread *t, uint16_t shape, struct line *a, unsigned take_a, struct line *b,
                 uintptr_t site)
{
    if (!LIKELY(fits(t, 1) && !t->lost_count && !t->untold &&
                site - t->module_start < t->module_bytes &&
                t->life == atomic_load_explicit(&live, memory_order_relaxed) && is_of(t, a) &&
                is_of(t, b))) {
        pair_otherwise(t, shape, a, take_a, b, site);
        return;
    }
    /* What is stored here the server reads on another core: get the line early, and number before
     * storing, since an atomic operation waits for the stores before it, and to read the counter waits for
     * that: the time comes first, and meanwhile the rest goes on. */
    struct slot *slot = slot_at(t, t->head);
    get_for_writing(slot_at(t, t->head + SLOTS_AHEAD));
    uint64_t now = stamp(t), number_a = take(t, a, take_a), number_b = take(t, b, 1);
    slot->shape = shape;
    slot->flags = take_doubt(t);
    slot->payload_bytes = 0;
    slot->time_ns = now;
    slot->site = site;
    slot->line_a = atomic_load_explicit(&a->index, memory_order_relaxed);
    slot->line_b = atomic_load_explicit(&b->index, memory_order_relaxed);
    slot->number_a = number_a;
    slot->number_b = number_b;
    slot->about = slot->count = 0;
    slot->key = 0;
    publish(t, 1);
    if (!LIKELY(now < t->look_at))
        look(t, now);
}

uint64_t record_event(struct thread *t, uint16_t type, struct line *line, uint32_t about,
                      uintptr_t site)
{
    return record_write(
        t, &(struct record){.shape = type, .a = line, .take_a = 1, .about = about, .site = site},
        NULL);
}

void record_refused(struct thread *t, const struct line *line, bool petitioned, uintptr_t site)
{
    record_write(t,
                 &(struct record){.shape = petitioned ? TYPE_REFUSED : (int)SHAPE_REFUSED,
                                  .a = thread_place(t),
                                  .take_a = petitioned ? 1 : 2,
                                  .about = line_index(line),
                                  .site = site},
                 NULL);
}
