#define _GNU_SOURCE
#include "server/osmetrics/counter_reader.h"

#include "base/alloc.h"
#include "wire/limits.h"
#include "wire/os_usage.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OFTEN_NS 100000000u /* between two readings */
#define AGE_PARTS 2000u     /* later: a part of how long it has counted */
#define COUNTER_THREADS 1024u /* with counters of their own, at most */

static const struct counter_kind {
    uint8_t meter;
    uint32_t type;
    uint64_t config;
} kinds[] = {
    {USAGE_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {USAGE_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {USAGE_CACHE_REFERENCES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
    {USAGE_CACHE_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {USAGE_BRANCH_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {USAGE_TASK_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {USAGE_PAGE_FAULTS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {USAGE_CONTEXT_SWITCHES, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
    {USAGE_CPU_MIGRATIONS, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* The counters of a thread, or (code 0) of the whole process. */
struct counted_thread {
    uint32_t code;
    int counters[KINDS]; /* descriptors; -1: not available */
    uint64_t reported[KINDS]; /* 1 + the last reported value; 0: none */
};

struct counter_reader {
    struct counted_thread *threads;
    size_t count, room;
    uint64_t first_ns, next_ns;
    int missing[KINDS]; /* errno with which a counter of the process was refused; 0: it counts */
    bool off; /* POET_PERF=off */
    bool is_reported; /* which are missing */
};

/* Returns a descriptor, or -1 with errno. What the kernel did for the thread is included where that
 * is permitted; events of the kernel itself cannot be counted otherwise. */
static int counter_open(const struct counter_kind *kind, pid_t tid, bool inherit)
{
    struct perf_event_attr wanted = {.type = kind->type,
                                     .size = sizeof wanted,
                                     .config = kind->config,
                                     .exclude_hv = 1,
                                     .inherit = inherit,
                                     .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                    PERF_FORMAT_TOTAL_TIME_RUNNING};
    long fd = syscall(SYS_perf_event_open, &wanted, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    bool kernels = kind->meter == USAGE_CONTEXT_SWITCHES || kind->meter == USAGE_CPU_MIGRATIONS;
    if (fd < 0 && (errno == EACCES || errno == EPERM) && !kernels) {
        wanted.exclude_kernel = 1;
        fd = syscall(SYS_perf_event_open, &wanted, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return (int)fd;
}

static struct counted_thread *counter_reader_add(struct counter_reader *c, pid_t tid, uint32_t code)
{
    c->threads = array_reserve(c->threads, &c->room, c->count + 1, sizeof *c->threads);
    struct counted_thread *thread = &c->threads[c->count++];
    *thread = (struct counted_thread){.code = code};
    for (size_t i = 0; i < KINDS; i++) {
        bool wanted = !c->off && !(code && c->missing[i]);
        thread->counters[i] = wanted ? counter_open(&kinds[i], tid, !code) : -1;
        if (!code && thread->counters[i] < 0)
            c->missing[i] = c->off ? ECANCELED : errno;
    }
    return thread;
}

struct counter_reader *counter_reader_new(pid_t pid)
{
    const char *perf = getenv("POET_PERF");
    struct counter_reader *c = xcalloc(1, sizeof *c);
    c->off = perf && strcmp(perf, "off") == 0;
    counter_reader_add(c, pid, 0);
    return c;
}

static void counted_thread_close(struct counted_thread *thread)
{
    for (size_t i = 0; i < KINDS; i++)
        if (thread->counters[i] >= 0)
            close(thread->counters[i]);
}

void counter_reader_free(struct counter_reader *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->count; i++)
        counted_thread_close(&c->threads[i]);
    free(c->threads);
    free(c);
}

void counter_reader_thread(struct counter_reader *c, pid_t tid, uint32_t code)
{
    if (!tid || !code || c->count > COUNTER_THREADS)
        return;
    for (size_t i = 1; i < c->count; i++)
        if (c->threads[i].code == code)
            return;
    counter_reader_add(c, tid, code);
}

/* ---- reading ---- */

/* Returns a counter's value, scaled to all of the time if it has counted in a part of it only;
 * UINT64_MAX: it is unknown. */
static uint64_t counter_value(int fd)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } is;
    if (fd < 0 || read(fd, &is, sizeof is) != (ssize_t)sizeof is)
        return UINT64_MAX;
    if (!is.running_ns)
        return is.enabled_ns ? UINT64_MAX : is.value;
    return is.running_ns < is.enabled_ns
               ? (uint64_t)((double)is.value * ((double)is.enabled_ns / (double)is.running_ns))
               : is.value;
}

static void counter_put(struct encoder *body, uint32_t *count, uint32_t code, unsigned meter,
                        uint64_t value)
{
    if (*count >= LIMIT_USAGE_FIGURES)
        return;
    encode_u32(body, code);
    encode_u8(body, (uint8_t)meter);
    encode_u64(body, value);
    ++*count;
}

static void counter_reader_put_missing(struct counter_reader *c, struct encoder *body,
                                       uint32_t *count)
{
    for (size_t i = 0; i < KINDS && !c->is_reported; i++)
        if (c->missing[i])
            counter_put(body, count, 0, USAGE_NO_COUNTER + kinds[i].meter, (uint64_t)c->missing[i]);
    c->is_reported = true;
}

static void counted_thread_put(struct counted_thread *thread, struct encoder *body, uint32_t *count)
{
    for (size_t i = 0; i < KINDS; i++) {
        uint64_t value = counter_value(thread->counters[i]);
        /* (a scaled value may decrease) */
        if (value >= INT64_MAX || value + 1 <= thread->reported[i])
            continue;
        counter_put(body, count, thread->code, kinds[i].meter, value);
        thread->reported[i] = value + 1;
    }
}

void counter_reader_read(struct counter_reader *c, uint64_t now_ns, bool all, struct encoder *body)
{
    uint32_t count = 0;
    size_t begin = body->size;
    c->first_ns = c->first_ns ? c->first_ns : now_ns;
    if (now_ns < c->next_ns && !all)
        return;
    uint64_t part_ns = (now_ns - c->first_ns) / AGE_PARTS;
    c->next_ns = now_ns + (part_ns > OFTEN_NS ? part_ns : OFTEN_NS);
    encode_u8(body, 0);
    encode_u64(body, now_ns);
    size_t count_at = body->size;
    encode_u32(body, 0);
    counter_reader_put_missing(c, body, &count);
    for (size_t i = 0; i < c->count; i++)
        counted_thread_put(&c->threads[i], body, &count);
    if (!count || body->failed)
        body->size = begin;
    for (unsigned i = 0; i < 4 && count && !body->failed; i++)
        body->data[count_at + i] = (uint8_t)(count >> (8 * i));
}
