#define _GNU_SOURCE
#include "server/intake/carried.h"

#include "memory/memory.h"
#include "wire/limits.h"
#include "wire/slot.h"
#include "wire/varied.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define AT_ONCE 16384u /* switches of one body */

static bool sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *carried_add(struct carried **list, int fd, uint32_t carrier)
{
    struct stat st;
    if (!sealed(fd))
        return "a ring that is not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < SPAN_MAP_BYTES)
        return "a ring of an impossible size";
    struct span_head *head = mmap(NULL, SPAN_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a ring that cannot be mapped";
    if (head->magic != SPAN_MAGIC || head->version != SPAN_VERSION) {
        munmap(head, SPAN_MAP_BYTES);
        return "a ring without its magic number, or of another version";
    }
    struct carried *ring = memory_zeroed(1, sizeof *ring);
    ring->head = head;
    ring->carrier = carrier;
    ring->next = *list;
    *list = ring;
    return NULL;
}

void carried_free(struct carried *ring)
{
    munmap(ring->head, SPAN_MAP_BYTES);
    free(ring);
}

static uint64_t there(const struct carried *ring)
{
    uint64_t count = atomic_load_explicit(&ring->head->written, memory_order_acquire) - ring->taken;
    return count <= SPAN_SWITCHES ? count : SPAN_SWITCHES;
}

unsigned carried_full(const struct carried *ring)
{
    return (unsigned)(there(ring) / (SPAN_SWITCHES / 256));
}

bool carried_is_over(const struct carried *ring)
{
    return atomic_load(&ring->head->done) && !there(ring);
}

/* ---- taking ---- */

struct clocked {
    struct ticks *ticks; /* NULL: times are ns */
    struct ticks_span span;
};

static struct clocked clock_of(const struct carried *ring, struct ticks *ticks)
{
    volatile uint32_t *clock = &ring->head->clock;
    if (*clock != QUEUE_CLOCK_TICKS || !ticks_known())
        return (struct clocked){.ticks = NULL};
    ticks_read(ticks);
    while (ticks->count < 2) { /* a millisecond, once */
        nanosleep(&(struct timespec){0, 1100000}, NULL);
        ticks_read(ticks);
    }
    return (struct clocked){.ticks = ticks, .span = ticks_span(ticks, ticks_counter())};
}

#define TIME_MOST ((uint64_t)1 << 60)

/* A time that runs back becomes that of the switch before. */
static uint64_t time_of(const struct carried *ring, struct clocked *clock, uint64_t time)
{
    if (clock->ticks && !ticks_holds(&clock->span, time))
        clock->span = ticks_span(clock->ticks, time);
    uint64_t ns = clock->ticks ? ticks_within(&clock->span, time) : time;
    return ns > ring->last_ns && ns < TIME_MOST ? ns : ring->last_ns;
}

static void put_head(struct carried *ring, struct out *out, uint64_t first_ns)
{
    put_u32(out, ring->on);
    put_u64(out, ring->since_ns);
    put_u64(out, ring->lost);
    put_u64(out, first_ns);
    ring->lost = 0;
    ring->last_ns = first_ns;
}

static void put_switch(struct carried *ring, struct out *out, uint64_t ns, uint32_t task)
{
    put_varied(out, ns - ring->last_ns);
    put_varied(out, task);
    ring->last_ns = ring->since_ns = ns;
    ring->on = task;
}

/* Whatever was on it went at a time that is not known. */
static void lose(struct carried *ring, uint64_t count)
{
    ring->lost += count < TIME_MOST ? count : 1;
    ring->on = 0;
}

bool carried_take(struct carried *ring, struct ticks *ticks, struct out *out)
{
    const volatile struct span_switch *all = span_switches(ring->head);
    uint64_t count = there(ring), most = count < AT_ONCE ? count : AT_ONCE, done = 0;
    if (!most)
        return false;
    struct clocked clock = clock_of(ring, ticks);
    size_t count_at = 0;
    uint32_t told = 0;
    for (; done < most; done++) {
        const volatile struct span_switch *at = &all[(ring->taken + done) % SPAN_SWITCHES];
        uint64_t time = at->time, task = at->task;
        if (task == SPAN_LOST && told)
            break;
        if (task == SPAN_LOST) {
            lose(ring, time);
            continue;
        }
        uint64_t ns = time_of(ring, &clock, time);
        if (!told++) {
            put_head(ring, out, ns);
            count_at = out->size;
            put_u32(out, 0);
        }
        put_switch(ring, out, ns, task < LIMIT_LINES ? (uint32_t)task : 0);
    }
    for (unsigned i = 0; i < 4 && told && !out->failed; i++)
        out->data[count_at + i] = (uint8_t)(told >> (8 * i));
    ring->taken += done;
    atomic_store_explicit(&ring->head->taken, ring->taken, memory_order_release);
    return told > 0;
}
