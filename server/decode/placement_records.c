#define _GNU_SOURCE
#include "server/decode/placement_records.h"

#include "base/alloc.h"
#include "server/decode/declarations.h"
#include "server/run/cpu_placement.h"
#include "server/timing/placements.h"
#include "wire/limits.h"
#include "wire/message.h"
#include "wire/profile_region.h"
#include "wire/profile_snapshot.h"
#include "wire/slot.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define AT_ONCE 16384u /* switches of one body */

static bool placement_is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS), needed = F_SEAL_SHRINK | F_SEAL_GROW;
    return seals >= 0 && (seals & needed) == needed;
}

const char *placement_ring_add(struct placement_ring **list, int fd, uint32_t carrier)
{
    struct stat st;
    if (!placement_is_sealed(fd))
        return "a ring that is not sealed";
    if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < PLACEMENT_MAP_BYTES)
        return "a ring of an invalid size";
    struct task_placement_head *head =
        mmap(NULL, PLACEMENT_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED)
        return "a ring that cannot be mapped";
    if (head->magic != PLACEMENT_MAGIC || head->version != PLACEMENT_VERSION) {
        munmap(head, PLACEMENT_MAP_BYTES);
        return "a ring without its magic number, or of another version";
    }
    struct placement_ring *ring = xcalloc(1, sizeof *ring);
    ring->head = head;
    ring->carrier = carrier;
    ring->next = *list;
    *list = ring;
    return NULL;
}

void placement_ring_free(struct placement_ring *ring)
{
    munmap(ring->head, PLACEMENT_MAP_BYTES);
    free(ring);
}

static uint64_t placement_available(const struct placement_ring *ring)
{
    uint64_t count = atomic_load_explicit(&ring->head->written, memory_order_acquire) - ring->taken;
    return count <= PLACEMENT_SWITCHES ? count : PLACEMENT_SWITCHES;
}

unsigned placement_ring_is_full(const struct placement_ring *ring)
{
    return (unsigned)(placement_available(ring) / (PLACEMENT_SWITCHES / 256));
}

bool placement_ring_is_over(const struct placement_ring *ring)
{
    return atomic_load(&ring->head->done) && !placement_available(ring);
}

/* ---- taking ---- */

struct placement_clock {
    struct tsc_clock *ticks; /* NULL: times are ns */
    struct tsc_clock_range span;
};

static struct placement_clock clock_of(const struct placement_ring *ring, struct tsc_clock *ticks)
{
    volatile uint32_t *clock = &ring->head->clock;
    if (*clock != QUEUE_CLOCK_TICKS || !tsc_clock_known())
        return (struct placement_clock){.ticks = NULL};
    tsc_clock_read(ticks);
    while (ticks->count < 2) { /* a millisecond, once */
        nanosleep(&(struct timespec){0, 1100000}, NULL);
        tsc_clock_read(ticks);
    }
    return (struct placement_clock){.ticks = ticks,
                                    .span = tsc_clock_span(ticks, tsc_clock_counter())};
}

#define TIME_MOST ((uint64_t)1 << 60)

/* A time that runs back becomes that of the switch before. */
static uint64_t time_of(const struct placement_ring *ring, struct placement_clock *clock,
                        uint64_t time)
{
    if (clock->ticks && !tsc_clock_holds(&clock->span, time))
        clock->span = tsc_clock_span(clock->ticks, time);
    uint64_t ns = clock->ticks ? tsc_clock_within(&clock->span, time) : time;
    return ns > ring->last_ns && ns < TIME_MOST ? ns : ring->last_ns;
}

static void put_head(struct placement_ring *ring, struct encoder *out, uint64_t first_ns)
{
    encode_u32(out, ring->on);
    encode_u64(out, ring->since_ns);
    encode_u64(out, ring->lost);
    encode_u64(out, first_ns);
    ring->lost = 0;
    ring->last_ns = first_ns;
}

static void put_switch(struct placement_ring *ring, struct encoder *out, uint64_t ns, uint32_t task,
                       uint32_t left)
{
    encode_varint(out, ns - ring->last_ns);
    encode_varint(out, task);
    encode_varint(out, left);
    ring->last_ns = ring->since_ns = ns;
    ring->on = task;
}

/* Whatever was on it went at a time that is not known. */
static void placement_note_loss(struct placement_ring *ring, uint64_t count)
{
    ring->lost += count < TIME_MOST ? count : 1;
    ring->on = 0;
}

bool placement_ring_decode(struct placement_ring *ring, struct tsc_clock *ticks,
                           struct encoder *out)
{
    const volatile struct task_switch *all = placement_switches(ring->head);
    uint64_t count = placement_available(ring), most = count < AT_ONCE ? count : AT_ONCE, done = 0;
    if (!most)
        return false;
    struct placement_clock clock = clock_of(ring, ticks);
    size_t count_at = 0;
    uint32_t sent_count = 0;
    for (; done < most; done++) {
        const volatile struct task_switch *at = &all[(ring->taken + done) % PLACEMENT_SWITCHES];
        uint64_t time = at->time;
        uint32_t task = at->task, left = at->left;
        if (task == PLACEMENT_LOST && sent_count)
            break;
        if (task == PLACEMENT_LOST) {
            placement_note_loss(ring, time);
            continue;
        }
        uint64_t ns = time_of(ring, &clock, time);
        if (!sent_count++) {
            put_head(ring, out, ns);
            count_at = out->size;
            encode_u32(out, 0);
        }
        put_switch(ring, out, ns, task < LIMIT_LINES ? task : 0, left);
    }
    for (unsigned i = 0; i < 4 && sent_count && !out->failed; i++)
        out->data[count_at + i] = (uint8_t)(sent_count >> (8 * i));
    ring->taken += done;
    atomic_store_explicit(&ring->head->taken, ring->taken, memory_order_release);
    return sent_count > 0;
}

/* ---- decoding ---- */

#define SWITCH_BYTES_MIN 2u /* of a switch in a body */

struct placement_stream {
    struct program_session *session;
    struct placements *placements;
    struct placement_switch now;
};

static int64_t placement_run_time(const struct program_session *session, uint64_t ns)
{
    return (int64_t)(ns - session->run->clock.start_ns);
}

static void placement_report_switch(struct placement_stream *s, uint64_t task, uint64_t ns,
                                    uint64_t left)
{
    s->now.begins = (uint32_t)task;
    s->now.at_ns = placement_run_time(s->session, ns);
    s->now.left = left <= REGION_CONTEXTS ? (uint32_t)left : 0;
    s->now.ends_line = s->now.ends ? program_session_line(s->session, s->now.ends) : 0;
    s->now.begins_line = task ? program_session_line(s->session, (uint32_t)task) : 0;
    placements_switched(s->placements, s->now);
    s->now.lost = 0;
    s->now.ends = s->now.begins;
    s->now.since_ns = s->now.at_ns;
}

bool program_session_decode_carriers(struct program_session *session, uint32_t number,
                                     const uint8_t *body, size_t size, const char **why)
{
    struct decoder in = decoder_init(body, size);
    struct placement_stream s = {.session = session,
                                 .placements = cpu_placement_tasks(session->run)};
    s.now.ends = decode_u32(&in);
    uint64_t since_ns = decode_u64(&in);
    s.now.lost = decode_u64(&in);
    uint64_t at_ns = decode_u64(&in);
    uint32_t count = decode_count(&in, SWITCH_BYTES_MIN);
    s.now.since_ns = placement_run_time(session, since_ns);
    s.now.session = session->number;
    s.now.on = number && number < LIMIT_CARRIERS
                   ? placements_carrier(s.placements, session->number, number)
                   : 0;
    for (uint32_t i = 0; i < count && !in.error; i++) {
        uint64_t after = decode_varint(&in), task = decode_varint(&in), left = decode_varint(&in);
        at_ns += after;
        if (after > SNAPSHOT_TIME_MOST || at_ns > SNAPSHOT_TIME_MOST || since_ns > at_ns ||
            task >= LIMIT_LINES)
            decoder_fail(&in, "invalid context switch");
        else if (s.now.on)
            placement_report_switch(&s, task, at_ns, left);
    }
    session->run->generation++;
    bool good = decoder_finish(&in);
    *why = in.error;
    return good;
}
