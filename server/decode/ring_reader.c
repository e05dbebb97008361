#define _GNU_SOURCE
#include "server/decode/ring_reader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool ring_reader_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *ring_reader_add(struct ring_reader **list, int fd, uint32_t thread)
{
    struct stat st;
    if (!ring_reader_is_sealed(fd))
        return "a ring that is not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < CALL_RECORDS_MAP_BYTES)
        return "a ring of an invalid size";
    struct call_records_head *head =
        mmap(NULL, CALL_RECORDS_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a ring that cannot be mapped";
    if (head->magic != CALL_RECORDS_MAGIC || head->version != CALL_RECORDS_VERSION) {
        munmap(head, CALL_RECORDS_MAP_BYTES);
        return "a ring without its magic number, or of another version";
    }
    struct ring_reader *ring = xcalloc(1, sizeof *ring);
    ring->head = head;
    ring->thread = thread;
    ring->next = *list;
    *list = ring;
    return NULL;
}

void ring_reader_free(struct ring_reader *ring)
{
    munmap(ring->head, CALL_RECORDS_MAP_BYTES);
    free(ring);
}

/* How many words are there, or will be. */
static uint64_t ring_reader_available(const struct ring_reader *ring)
{
    uint64_t words =
        atomic_load_explicit(&ring->head->reserved, memory_order_acquire) - ring->taken;
    return words <= CALL_RECORDS_WORDS ? words : CALL_RECORDS_WORDS;
}

unsigned ring_reader_is_full(const struct ring_reader *ring)
{
    return (unsigned)(ring_reader_available(ring) / (CALL_RECORDS_WORDS / 256));
}

bool ring_reader_is_empty(const struct ring_reader *ring) { return !ring_reader_available(ring); }

/* ---- taking ---- */

struct ring_moment {
    const struct tsc_clock *ticks;
    bool counter; /* words are stamped with it, else with nanoseconds */
    uint64_t now; /* in their unit */
    struct tsc_clock_range span;
};

static struct ring_moment moment_of(const struct ring_reader *ring, struct tsc_clock *ticks)
{
    volatile uint32_t *clock = &ring->head->clock;
    struct ring_moment moment = {.ticks = ticks, .counter = *clock == QUEUE_CLOCK_TICKS};
    tsc_clock_read(ticks);
    for (int i = 0; i < 10 && tsc_clock_known() && ticks->count < 2; i++) {
        nanosleep(&(struct timespec){0, 1100000}, NULL);
        tsc_clock_read(ticks);
    }
    uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    moment.counter = moment.counter && ticks->count >= 2;
    moment.now = moment.counter ? tsc_clock_counter() : now_ns;
    if (moment.counter)
        moment.span = tsc_clock_span(ticks, moment.now);
    return moment;
}

/* Of a time its low bits are there: it is near now. */
static uint64_t whole_time(uint64_t low, uint64_t now)
{
    int64_t ago = (int64_t)((low - now) << CALL_RECORD_TIME_SHIFT) >> CALL_RECORD_TIME_SHIFT;
    return now + (uint64_t)ago;
}

static uint64_t time_of(const struct ring_moment *m, struct tsc_clock_range *span, uint64_t word)
{
    uint64_t time = whole_time(word >> CALL_RECORD_TIME_SHIFT, m->now);
    if (!m->counter)
        return time;
    if (!tsc_clock_holds(span, time))
        *span = tsc_clock_span(m->ticks, time);
    return tsc_clock_within(span, time);
}

/* False: it cannot be. */
static bool ring_reader_decode_word(struct ring_reader *ring, struct ring_moment *m, uint64_t word,
                                    struct call_record *e)
{
    uint32_t context =
        (uint32_t)(word >> CALL_RECORD_CONTEXT_SHIFT) & ((1u << (CALL_RECORD_TIME_SHIFT - 1)) - 1);
    bool ends = word & CALL_RECORD_ENDS;
    *e = (struct call_record){
        .time_ns = ring->last_ns, .is = CALL_RECORD_LOST, .lost = word >> CALL_RECORD_TIME_SHIFT};
    if (!context)
        return !ends;
    if (context >= REGION_CONTEXTS || (ends && !ring->open))
        return false;
    e->is = ends ? CALL_RECORD_ENDED : CALL_RECORD_BEGINS;
    e->context = ends ? 0 : context;
    uint64_t ns = time_of(m, &m->span, word);
    e->time_ns = ns > ring->last_ns && ns <= (uint64_t)1 << 60 ? ns : ring->last_ns;
    ring->open += ends ? UINT64_MAX : 1;
    return true;
}

static void ring_reader_append_entry(struct ring_reader *ring, struct encoder *out, bool *any,
                                     const struct call_record *e)
{
    if (!*any) {
        ring->last_ns = e->time_ns;
        encode_call_records_head(out, e->time_ns);
    }
    *any = true;
    encode_call_record(out, &ring->last_ns, e);
}

bool ring_reader_decode(struct ring_reader *ring, struct tsc_clock *ticks, bool last,
                        struct encoder *out)
{
    _Atomic uint64_t *words = call_records_words(ring->head);
    uint64_t count = ring_reader_available(ring),
             most = count < RING_READER_CHUNK ? count : RING_READER_CHUNK, done = 0;
    bool any = false;
    if (!most)
        return false;
    struct ring_moment moment = moment_of(ring, ticks);
    for (; done < most; done++) {
        _Atomic uint64_t *at = &words[(ring->taken + done) % CALL_RECORDS_WORDS];
        uint64_t word = atomic_load_explicit(at, memory_order_acquire);
        struct call_record e;
        if (!word && !last)
            break; /* it is being written */
        atomic_store_explicit(at, 0, memory_order_relaxed);
        if (word && ring_reader_decode_word(ring, &moment, word, &e))
            ring_reader_append_entry(ring, out, &any, &e);
        else
            ring->wrong++;
    }
    ring->taken += done;
    atomic_store_explicit(&ring->head->taken, ring->taken, memory_order_release);
    return any;
}
