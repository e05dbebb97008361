#define _GNU_SOURCE
#include "server/intake/ring.h"

#include "memory/memory.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *ring_add(struct ring **list, int fd, uint32_t thread)
{
    struct stat st;
    if (!sealed(fd))
        return "a ring that is not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < ENTRIES_MAP_BYTES)
        return "a ring of an impossible size";
    struct entries_head *head =
        mmap(NULL, ENTRIES_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a ring that cannot be mapped";
    if (head->magic != ENTRIES_MAGIC || head->version != ENTRIES_VERSION) {
        munmap(head, ENTRIES_MAP_BYTES);
        return "a ring without its magic number, or of another version";
    }
    struct ring *ring = memory_zeroed(1, sizeof *ring);
    ring->head = head;
    ring->thread = thread;
    ring->next = *list;
    *list = ring;
    return NULL;
}

void ring_free(struct ring *ring)
{
    munmap(ring->head, ENTRIES_MAP_BYTES);
    free(ring);
}

/* How many words are there, or will be. */
static uint64_t there(const struct ring *ring)
{
    uint64_t words =
        atomic_load_explicit(&ring->head->reserved, memory_order_acquire) - ring->taken;
    return words <= ENTRIES_WORDS ? words : ENTRIES_WORDS;
}

unsigned ring_full(const struct ring *ring)
{
    return (unsigned)(there(ring) / (ENTRIES_WORDS / 256));
}

bool ring_is_empty(const struct ring *ring) { return !there(ring); }

/* ---- taking ---- */

struct moment {
    const struct ticks *ticks;
    bool counter; /* words are stamped with it, else with nanoseconds */
    uint64_t now; /* in their unit */
    struct ticks_span span;
};

static struct moment moment_of(const struct ring *ring, struct ticks *ticks)
{
    volatile uint32_t *clock = &ring->head->clock;
    struct moment moment = {.ticks = ticks, .counter = *clock == QUEUE_CLOCK_TICKS};
    struct timespec ts;
    ticks_read(ticks);
    for (int i = 0; i < 10 && ticks_known() && ticks->count < 2; i++) {
        nanosleep(&(struct timespec){0, 1100000}, NULL);
        ticks_read(ticks);
    }
    clock_gettime(CLOCK_MONOTONIC, &ts);
    moment.counter = moment.counter && ticks->count >= 2;
    moment.now =
        moment.counter ? ticks_counter() : (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
    if (moment.counter)
        moment.span = ticks_span(ticks, moment.now);
    return moment;
}

/* Of a time its low bits are there: it is near now. */
static uint64_t whole_time(uint64_t low, uint64_t now)
{
    int64_t ago = (int64_t)((low - now) << ENTRY_TIME_SHIFT) >> ENTRY_TIME_SHIFT;
    return now + (uint64_t)ago;
}

static uint64_t time_of(const struct moment *m, struct ticks_span *span, uint64_t word)
{
    uint64_t time = whole_time(word >> ENTRY_TIME_SHIFT, m->now);
    if (!m->counter)
        return time;
    if (!ticks_holds(span, time))
        *span = ticks_span(m->ticks, time);
    return ticks_within(span, time);
}

/* False: it cannot be. */
static bool understand(struct ring *ring, struct moment *m, uint64_t word, struct entry *e)
{
    uint32_t context =
        (uint32_t)(word >> ENTRY_CONTEXT_SHIFT) & ((1u << (ENTRY_TIME_SHIFT - 1)) - 1);
    bool ends = word & ENTRY_ENDS;
    *e = (struct entry){
        .time_ns = ring->last_ns, .is = ENTRY_LOST, .lost = word >> ENTRY_TIME_SHIFT};
    if (!context)
        return !ends;
    if (context >= REGION_CONTEXTS || (ends && !ring->open))
        return false;
    e->is = ends ? ENTRY_ENDED : ENTRY_BEGINS;
    e->context = ends ? 0 : context;
    uint64_t ns = time_of(m, &m->span, word);
    e->time_ns = ns > ring->last_ns && ns <= (uint64_t)1 << 60 ? ns : ring->last_ns;
    ring->open += ends ? UINT64_MAX : 1;
    return true;
}

static void append(struct ring *ring, struct out *out, bool *any, const struct entry *e)
{
    if (!*any) {
        ring->last_ns = e->time_ns;
        put_entries_head(out, e->time_ns);
    }
    *any = true;
    put_entry(out, &ring->last_ns, e);
}

bool ring_take(struct ring *ring, struct ticks *ticks, bool last, struct out *out)
{
    _Atomic uint64_t *words = entries_words(ring->head);
    uint64_t count = there(ring), most = count < RING_PART ? count : RING_PART, done = 0;
    bool any = false;
    if (!most)
        return false;
    struct moment moment = moment_of(ring, ticks);
    for (; done < most; done++) {
        _Atomic uint64_t *at = &words[(ring->taken + done) % ENTRIES_WORDS];
        uint64_t word = atomic_load_explicit(at, memory_order_acquire);
        struct entry e;
        if (!word && !last)
            break; /* it is being written */
        atomic_store_explicit(at, 0, memory_order_relaxed);
        if (word && understand(ring, &moment, word, &e))
            append(ring, out, &any, &e);
        else
            ring->wrong++;
    }
    ring->taken += done;
    atomic_store_explicit(&ring->head->taken, ring->taken, memory_order_release);
    return any;
}
