/* Writing slots into the calling thread's queue: the only hot path. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

_Atomic bool recorded;
_Atomic uint64_t dropped;

bool clock_ticks;

#if defined(__x86_64__)
static bool ticks_steadily(void)
{
    unsigned a, b, c, d;
    char source[8] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    bool used = fd >= 0 && read(fd, source, sizeof source - 1) > 0 && strcmp(source, "tsc\n") == 0;
    if (fd >= 0)
        close(fd);
    return used && __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}
#define TICKS() __builtin_ia32_rdtsc()
#else
static bool ticks_steadily(void) { return false; }
#define TICKS() 0
#endif

/* The counter is read in half the time, where it is invariant and the kernel trusts it, too. */
void clock_begin(void)
{
    const char *wanted = getenv("POET_CLOCK");
    clock_ticks = (!wanted || strcmp(wanted, "monotonic") != 0) && ticks_steadily();
}

uint64_t clock_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t stamp(void) { return clock_ticks ? TICKS() : clock_now(); }

/* Only the thread itself numbers its own line while it runs; other lines may have several. */
static uint64_t take(struct thread *t, struct line *line, unsigned count)
{
    if (line != t->alone) {
        _Atomic uint64_t *far = atomic_load_explicit(&line->far, memory_order_relaxed);
        return atomic_fetch_add_explicit(LIKELY(!far) ? &line->number : far, count, memory_order_relaxed) + 1;
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

/* The queue is full: wait for the server, but only up to the bound, and once a stall. */
static bool wait_for_room(struct thread *t, uint64_t slots)
{
    if (t->stalled || slots > t->mask + 1)
        return false;
    int saved = errno;
    int cancelling; /* a lock is no cancellation point, so our sleep must not be one */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);
    uint64_t begin = clock_now(), limit = (uint64_t)server_wait_ms() * 1000000u, now = begin;
    atomic_store(&t->queue->waiting, 1);
    while (now - begin < limit && server_alive()) {
        uint32_t moved = atomic_load(&t->queue->moved);
        if (fits(t, slots))
            break;
        server_wake(); /* finds out, too, whether the server is there */
        uint64_t most = limit - (now - begin) < 10000000 ? limit - (now - begin) : 10000000;
        syscall(SYS_futex, &t->queue->moved, FUTEX_WAIT, moved, &(struct timespec){0, (long)most}, NULL, 0);
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

/* Nobody can tell by numbers which events these were, and so which others come after them. */
static void tell_unnumbered(struct thread *t)
{
    uint8_t bytes[SLOT_BYTES];
    struct out body = {.data = bytes, .room = sizeof bytes};
    put_u8(&body, UNSEEN_LOST);
    put_string(&body, "more at once than were counted");
    t->unnumbered = !control(t, MESSAGE_UNSEEN, &body);
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
    if (t->unnumbered)
        tell_unnumbered(t);
}

bool record_control(struct thread *t, enum message type, const struct out *body)
{
    if (t->lost_count)
        announce_lost(t);
    return control(t, type, body);
}

uint64_t record_write(struct thread *t, const struct record *r, uint64_t *first_b)
{
    if (t->life != atomic_load_explicit(&live, memory_order_relaxed))
        return 0; /* its server went while the call was under way */
    t->busy = true;
    if (t->lost_count)
        announce_lost(t);
    if (r->site && r->site - t->module_start >= t->module_bytes)
        modules_meet(t, r->site);
    uint64_t slots = 1 + slot_follow(r->payload_bytes);
    bool room = LIKELY(fits(t, slots)) || wait_for_room(t, slots);
    if (!room && t->lost_count + 2 > LOST_RANGES) { /* numbers that nobody could announce are not taken */
        count_dropped(t, r->take_a + (r->b ? r->take_b : 0));
        t->unnumbered = true;
        t->busy = false;
        return 0;
    }
    uint64_t a = take(t, r->a, r->take_a);
    uint64_t b = r->partner.number;
    if (r->b && r->take_b)
        b = take(t, r->b, r->take_b);
    uint32_t line_a = atomic_load_explicit(&r->a->index, memory_order_relaxed);
    uint32_t line_b =
        r->b ? atomic_load_explicit(&r->b->index, memory_order_relaxed) : r->partner.line;
    if (LIKELY(room)) {
        *slot_at(t, t->head) = (struct slot){.shape = r->shape,
                                             .flags = r->flags,
                                             .payload_bytes = r->payload_bytes,
                                             .time_ns = stamp(),
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

void record_pair(struct thread *t, uint16_t shape, struct line *a, unsigned take_a, struct line *b,
                 uintptr_t site)
{
    if (!LIKELY(fits(t, 1) && !t->lost_count && site - t->module_start < t->module_bytes &&
                t->life == atomic_load_explicit(&live, memory_order_relaxed))) {
        record_write(t, &(struct record){.shape = shape, .a = a, .b = b, .take_a = take_a, .take_b = 1,
                                         .site = site}, NULL);
        return;
    }
    t->busy = true;
    /* What is stored here the server reads on another core: get the line early, and number before
     * storing, since an atomic operation waits for the stores before it. */
    struct slot *slot = slot_at(t, t->head);
    __builtin_prefetch(slot_at(t, t->head + 8), 1);
    uint64_t number_a = take(t, a, take_a), number_b = take(t, b, 1);
    slot->shape = shape;
    slot->flags = 0;
    slot->payload_bytes = 0;
    slot->time_ns = stamp();
    slot->site = site;
    slot->line_a = atomic_load_explicit(&a->index, memory_order_relaxed);
    slot->line_b = atomic_load_explicit(&b->index, memory_order_relaxed);
    slot->number_a = number_a;
    slot->number_b = number_b;
    slot->about = slot->count = 0;
    slot->key = 0;
    publish(t, 1);
    t->busy = false;
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
    record_write(t, &(struct record){.shape = petitioned ? TYPE_REFUSED : (int)SHAPE_REFUSED,
                                     .a = thread_place(t),
                                     .take_a = petitioned ? 1 : 2,
                                     .about = line_index(line),
                                     .site = site}, NULL);
}
