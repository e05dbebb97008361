#define _GNU_SOURCE
#include "server/osmetrics/switch_reader.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/alloc.h"
#include "wire/context_switches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES ((size_t)64 << 10) /* of a processor, a power of two; a page more for its head */
#define HELD_NS 100000000u /* so long a record waits for earlier ones of other CPUs */
#define UNKNOWN_MOST                                                                               \
    8192u /* records that wait until their thread is known; the oldest are dropped */
#define CPU_MOST (UINT16_MAX - 2)
#define BODY_SWITCHES 100000u /* in one body */

struct switch_seen {
    uint64_t at_ns;
    pid_t tid; /* 0: records of some threads were lost */
    uint8_t to; /* an enum context_switch_to */
    uint16_t cpu; /* 1 + the processor; 0 not known */
};

struct switch_ring {
    int fd, cpu;
    struct perf_event_mmap_page *page;
};

struct switch_reader {
    pid_t pid;
    struct switch_ring *rings; /* of each processor */
    int count;
    struct map threads; /* tid -> code */
    struct switch_seen *seen; /* that were not reported yet */
    size_t seen_count, seen_room;
    struct switch_seen *unknown; /* of threads that are not known yet, by time */
    size_t unknown_count, unknown_room;
    bool has_new_threads; /* some of those may be of a thread that is known now */
    uint64_t lost; /* not reported yet */
    uint64_t gone_ns; /* when the process became another program; 0: it has not */
};

static uint64_t now_ns(void) { return clock_read_ns(CLOCK_MONOTONIC); }

/* ---- opening ---- */

/* False, with errno: it is not permitted, or there is no room.  (A processor that is off has
 * none.) */
static bool open_ring(struct switch_reader *s, int processor)
{
    struct perf_event_attr wanted = {.type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof wanted,
                                     .config = PERF_COUNT_SW_DUMMY,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1,
                                     .context_switch = 1,
                                     .comm = 1,
                                     .comm_exec = 1,
                                     .inherit = 1,
                                     .sample_id_all = 1,
                                     .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                     .use_clockid = 1,
                                     .clockid = CLOCK_MONOTONIC,
                                     .watermark = 1,
                                     .wakeup_watermark = RING_BYTES};
    long fd = syscall(SYS_perf_event_open, &wanted, s->pid, processor, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return errno == ENODEV;
    size_t size = RING_BYTES + (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (page == MAP_FAILED) {
        int failed = errno;
        close((int)fd);
        errno = failed;
        return false;
    }
    s->rings[s->count++] = (struct switch_ring){(int)fd, processor, page};
    return true;
}

static bool switch_reader_is_off(void)
{
    const char *wanted = getenv("POET_PERF");
    return wanted && strcmp(wanted, "off") == 0;
}

int switch_reader_keep_ready(void)
{
    struct perf_event_attr idle = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof idle,
                                   .config = PERF_COUNT_SW_DUMMY,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return switch_reader_is_off()
               ? -1
               : (int)syscall(SYS_perf_event_open, &idle, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

struct switch_reader *switch_reader_new(pid_t pid, const char **why)
{
    *why = "POET_PERF=off";
    if (switch_reader_is_off())
        return NULL;
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    struct switch_reader *s = xcalloc(1, sizeof *s);
    s->pid = pid;
    s->rings = xcalloc((size_t)(processors > 0 ? processors : 1), sizeof *s->rings);
    for (int i = 0; i < processors; i++)
        if (i > CPU_MOST || !open_ring(s, i)) {
            *why = strerror(errno);
            switch_reader_free(s);
            return NULL;
        }
    return s;
}

void switch_reader_free(struct switch_reader *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++) {
        munmap(s->rings[i].page, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE));
        close(s->rings[i].fd);
    }
    map_free(&s->threads);
    free(s->rings);
    free(s->seen);
    free(s->unknown);
    free(s);
}

void switch_reader_thread(struct switch_reader *s, pid_t tid, uint32_t code)
{
    if (!tid || !code || map_get(&s->threads, (uint64_t)tid, 0) == (void *)(uintptr_t)code)
        return;
    map_put(&s->threads, (uint64_t)tid, 0, (void *)(uintptr_t)code);
    s->has_new_threads = true;
}

/* ---- reading ---- */

static void switches_note(struct switch_reader *s, struct switch_seen seen)
{
    s->seen = array_reserve(s->seen, &s->seen_room, s->seen_count + 1, sizeof *s->seen);
    s->seen[s->seen_count++] = seen;
}

/* Which threads' they were is not known: all that are known may have done anything. */
static void see_loss(struct switch_reader *s, uint64_t count, uint64_t at_ns)
{
    s->lost += count;
    switches_note(s, (struct switch_seen){at_ns, 0, CONTEXT_SWITCH_TO_UNKNOWN, 0});
    for (struct map_walk walk = {.map = &s->threads}; map_next(&walk);)
        switches_note(s, (struct switch_seen){at_ns, (pid_t)walk.a, CONTEXT_SWITCH_TO_UNKNOWN, 0});
}

/* A record, whole; its size is at least that of the head. */
static void switches_read_record(struct switch_reader *s, int cpu, const uint8_t *record,
                                 size_t size)
{
    struct perf_event_header head;
    struct {
        uint32_t pid, tid;
        uint64_t at_ns;
    } thread; /* last in all of them */
    uint64_t lost[2];
    memcpy(&head, record, sizeof head);
    if (size < sizeof head + sizeof thread)
        return;
    memcpy(&thread, record + size - sizeof thread, sizeof thread);
    if (head.type == PERF_RECORD_LOST && size >= sizeof head + sizeof lost + sizeof thread) {
        memcpy(lost, record + sizeof head, sizeof lost);
        see_loss(s, lost[1], thread.at_ns);
    }
    if (thread.pid != (uint32_t)s->pid)
        return;
    if (head.type == PERF_RECORD_COMM && head.misc & PERF_RECORD_MISC_COMM_EXEC &&
        (!s->gone_ns || thread.at_ns < s->gone_ns))
        s->gone_ns = thread.at_ns;
    if (head.type != PERF_RECORD_SWITCH)
        return;
    bool out = head.misc & PERF_RECORD_MISC_SWITCH_OUT,
         taken = head.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    switches_note(s, (struct switch_seen){thread.at_ns, (pid_t)thread.tid,
                                          !out    ? CONTEXT_SWITCH_TO_RUN
                                          : taken ? CONTEXT_SWITCH_TO_READY
                                                  : CONTEXT_SWITCH_TO_SLEEP,
                                          (uint16_t)(cpu + 1)});
}

/* At any place of the ring, also across its end. */
static void switches_copy_from_ring(const struct switch_ring *ring, uint64_t at, void *to,
                                    size_t size)
{
    const uint8_t *data = (const uint8_t *)ring->page + sysconf(_SC_PAGESIZE);
    size_t place = at % RING_BYTES, first = RING_BYTES - place < size ? RING_BYTES - place : size;
    memcpy(to, data + place, first);
    memcpy((uint8_t *)to + first, data, size - first);
}

static void read_ring(struct switch_reader *s, const struct switch_ring *ring)
{
    uint64_t end = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
             at = ring->page->data_tail;
    uint8_t record[128];
    struct perf_event_header head;
    for (; at + sizeof head <= end; at += head.size) {
        switches_copy_from_ring(ring, at, &head, sizeof head);
        if (head.size < sizeof head || head.size > end - at)
            break;
        if (head.size > sizeof record)
            continue;
        switches_copy_from_ring(ring, at, record, head.size);
        switches_read_record(s, ring->cpu, record, head.size);
    }
    __atomic_store_n(&ring->page->data_tail, end, __ATOMIC_RELEASE);
}

/* ---- reporting ---- */

static int by_time(const void *a, const void *b)
{
    const struct switch_seen *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->to == CONTEXT_SWITCH_TO_RUN) -
           (y->to == CONTEXT_SWITCH_TO_RUN); /* it goes before it comes */
}

/* Returns how many switches are reported now: those up to a time. */
static size_t switches_due_count(const struct switch_reader *s, uint64_t until_ns)
{
    size_t n = 0;
    while (n < s->seen_count && n < BODY_SWITCHES && s->seen[n].at_ns <= until_ns)
        n++;
    return n;
}

/* Returns the code of the thread; 0: it is not known. */
static uint32_t code_of(const struct switch_reader *s, const struct switch_seen *seen)
{
    return (uint32_t)(uintptr_t)map_get(&s->threads, (uint64_t)seen->tid, 0);
}

/* A list of switches to report. */
struct switch_list {
    struct switch_seen *items;
    size_t count, room;
};

static void switch_list_add(struct switch_list *list, struct switch_seen seen)
{
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = seen;
}

/* Keeps a record until its thread is known, which may take as long as the server is busy. */
static void switches_keep_unknown(struct switch_reader *s, struct switch_seen seen)
{
    if (s->unknown_count == UNKNOWN_MOST) {
        s->unknown_count /= 2;
        memmove(s->unknown, s->unknown + UNKNOWN_MOST - s->unknown_count,
                s->unknown_count * sizeof *s->unknown);
    }
    s->unknown =
        array_reserve(s->unknown, &s->unknown_room, s->unknown_count + 1, sizeof *s->unknown);
    s->unknown[s->unknown_count++] = seen;
}

/* Moves the records of threads that are known now to the list.  What was lost since the first one
 * of a thread may have been its own. */
static void switches_find_known(struct switch_reader *s, struct switch_list *due)
{
    struct map begun = {0};
    size_t kept = 0;
    for (size_t i = 0; i < s->unknown_count && s->has_new_threads; i++) {
        struct switch_seen seen = s->unknown[i];
        if (seen.tid && code_of(s, &seen)) {
            switch_list_add(due, seen);
            map_put(&begun, (uint64_t)seen.tid, 0, s);
            continue;
        }
        for (struct map_walk walk = {.map = &begun}; !seen.tid && map_next(&walk);)
            switch_list_add(due, (struct switch_seen){seen.at_ns, (pid_t)walk.a, seen.to, 0});
        s->unknown[kept++] = seen;
    }
    s->unknown_count = s->has_new_threads ? kept : s->unknown_count;
    s->has_new_threads = false;
    map_free(&begun);
}

/* Moves the first records that were read to the list, except those of threads that are not known
 * yet, and drops those of the program that the process became. */
static void switches_take_due(struct switch_reader *s, size_t count, struct switch_list *due)
{
    switches_find_known(s, due);
    size_t found = due->count;
    for (size_t i = 0; i < count; i++) {
        if (s->gone_ns && s->seen[i].at_ns > s->gone_ns)
            continue;
        if (s->seen[i].tid && code_of(s, &s->seen[i]))
            switch_list_add(due, s->seen[i]);
        else
            switches_keep_unknown(s, s->seen[i]);
    }
    if (found)
        qsort(due->items, due->count, sizeof *due->items, by_time);
    s->seen_count -= count;
    memmove(s->seen, s->seen + count, s->seen_count * sizeof *s->seen);
}

static void put_seen(struct switch_reader *s, const struct switch_list *due, struct encoder *body)
{
    uint64_t at_ns = due->count ? due->items[0].at_ns : 0;
    encode_u64(body, s->lost);
    encode_u64(body, at_ns);
    encode_u32(body, (uint32_t)due->count);
    for (size_t i = 0; i < due->count; i++) {
        const struct switch_seen *seen = &due->items[i];
        encode_varint(body, code_of(s, seen));
        encode_varint(body, (seen->at_ns - at_ns) << 2 | seen->to);
        at_ns = seen->at_ns;
    }
    encode_string(body, "");
    for (size_t i = 0; i < due->count; i++)
        encode_varint(body, due->items[i].cpu);
    s->lost = 0;
}

void switch_reader_poll(struct switch_reader *s)
{
    for (int i = 0; i < s->count; i++)
        read_ring(s, &s->rings[i]);
}

void switch_reader_read(struct switch_reader *s, bool all, struct encoder *body)
{
    uint64_t now = now_ns();
    switch_reader_poll(s);
    if (s->seen_count)
        qsort(s->seen, s->seen_count, sizeof *s->seen, by_time);
    struct switch_list due = {0};
    switches_take_due(s, switches_due_count(s, all ? UINT64_MAX : now - HELD_NS), &due);
    if (due.count || s->lost)
        put_seen(s, &due, body);
    free(due.items);
}

void switch_reader_refused(const char *why, struct encoder *body)
{
    encode_u64(body, 0);
    encode_u64(body, 0);
    encode_u32(body, 0);
    encode_string(body, why);
}
