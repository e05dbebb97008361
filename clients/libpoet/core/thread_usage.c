#define _GNU_SOURCE
#include "clients/libpoet/core/thread_usage.h"

#include "base/clock.h"
#include "clients/libpoet/core/seccomp_allowed.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_clock.h"
#include "clients/libpoet/core/server_connection.h"
#include "clients/libpoet/core/message_queue.h"
#include "clients/libpoet/profile/region_owner.h"
#include "wire/profile_region.h"
#include "wire/os_usage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* CPU time of the main thread before it was traced. */
static uint64_t before_ns;

static uint64_t thread_usage_cpu_ns(void)
{
    struct timespec ran;
    bool known = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran) == 0;
    return known ? timespec_ns(ran) : 0;
}

void thread_usage_begin_main(void) { before_ns = thread_usage_cpu_ns(); }
void thread_usage_forked(void) { before_ns = 0; }

static uint64_t thread_usage_to_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

/* Reads the beginning of a system file; returns its size, 0 if it cannot be read. Makes bare system
 * calls, as those of the C library may be interposed. */
static size_t thread_usage_read_text(const char *path, char *text, size_t size)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long got = fd >= 0 ? syscall(SYS_read, fd, text, size) : -1;
    if (fd >= 0)
        syscall(SYS_close, fd);
    return got > 0 ? (size_t)got : 0;
}

/* Reads how long the calling thread was running and how long it was runnable: schedstat of
 * proc(5). */
static bool thread_usage_read_schedstat(uint64_t *ran, uint64_t *ready)
{
    char text[64];
    size_t got = thread_usage_read_text("/proc/thread-self/schedstat", text, sizeof text);
    uint64_t numbers[2] = {0}, n = 0;
    for (size_t i = 0; i < got && n < 2; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            numbers[n] = numbers[n] * 10 + (uint64_t)(text[i] - '0');
        else
            n++;
    }
    *ran = thread_usage_cpu_ns(); /* (the first number may be a clock tick old) */
    *ready = numbers[1];
    return n == 2;
}

static void thread_usage_encode_values(struct encoder *body, const struct usage_figure *figures,
                                       uint32_t count)
{
    encode_u32(body, count);
    for (uint32_t i = 0; i < count; i++) {
        encode_u32(body, figures[i].thread);
        encode_u8(body, figures[i].meter);
        encode_u64(body, figures[i].value);
    }
}

static void thread_usage_encode(struct encoder *body, uint32_t thread, const struct rusage *u,
                                uint64_t before)
{
    struct usage_figure figures[] = {
        {thread, USAGE_CPU_USER, thread_usage_to_ns(u->ru_utime)},
        {thread, USAGE_CPU_SYSTEM, thread_usage_to_ns(u->ru_stime)},
        {thread, USAGE_FAULTS, (uint64_t)u->ru_minflt},
        {thread, USAGE_MAJOR_FAULTS, (uint64_t)u->ru_majflt},
        {thread, USAGE_SLEEPS, (uint64_t)u->ru_nvcsw},
        {thread, USAGE_PREEMPTIONS, (uint64_t)u->ru_nivcsw},
        {0, USAGE_PEAK, (uint64_t)u->ru_maxrss * 1024},
        {thread, USAGE_CPU, 0},
        {thread, USAGE_READY, 0},
    };
    enum { PEAK = 6 };
    if (!thread ||
        !thread_usage_read_schedstat(&figures[PEAK + 1].value, &figures[PEAK + 2].value)) {
        thread_usage_encode_values(body, figures, PEAK + !thread);
        return;
    }
    figures[PEAK + 1].value -= before < figures[PEAK + 1].value ? before : 0;
    figures[PEAK] = figures[PEAK + 2];
    thread_usage_encode_values(body, figures, PEAK + 2);
}

/* t NULL: over the connection. */
static void thread_usage_send_body(struct traced_thread *t, const struct encoder *body)
{
    uint8_t bytes[MESSAGE_FRAME_BYTES + 16 + 9 * USAGE_FIGURE_BYTES];
    struct encoder out = {.data = bytes, .room = sizeof bytes};
    if (t) {
        message_queue_send(t, MESSAGE_USAGE, body);
        return;
    }
    encoder_begin_message(&out, MESSAGE_USAGE);
    encode_bytes(&out, body->data, body->size);
    encoder_end_message(&out);
    server_send(&out, atomic_load(&tracer.lifetime.number));
}

/* Sends what the process has read and written up to now, as one more sample, since the C library
 * writes its buffers after this. */
static void thread_usage_send_io(struct traced_thread *t)
{
    static const uint8_t meters[] = {USAGE_READ,   USAGE_WRITTEN,   USAGE_READS,
                                     USAGE_WRITES, USAGE_DISK_READ, USAGE_DISK_WRITTEN};
    enum { METERS = sizeof meters };
    struct usage_figure figures[METERS] = {{0}};
    uint8_t bytes[16 + METERS * USAGE_FIGURE_BYTES];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    char text[256];
    size_t got = thread_usage_read_text("/proc/self/io", text, sizeof text), n = 0;
    for (size_t i = 0; i < got && n < METERS; i++) { /* a line each, as in proc(5) */
        if (text[i] >= '0' && text[i] <= '9')
            figures[n].value = figures[n].value * 10 + (uint64_t)(text[i] - '0');
        else if (text[i] == '\n')
            n++;
    }
    for (size_t i = 0; i < n; i++)
        figures[i].meter = meters[i];
    encode_u8(&body, 0);
    encode_u64(&body, tracer_clock_now());
    thread_usage_encode_values(&body, figures, (uint32_t)n);
    if (n == METERS)
        thread_usage_send_body(t, &body);
}

void thread_usage_send_process(void)
{
    uint8_t bytes[16 + 9 * USAGE_FIGURE_BYTES];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    struct rusage used;
    bool wanted = measurement_wanted_initial() & WANTED_USAGE ||
                  seccomp_filter_is_none(); /* as of a queue's thread */
    if (!atomic_load(&tracer.lifetime.number) || !seccomp_allows(ALLOWED_USAGE) || !wanted)
        return;
    int saved = errno;
    if (getrusage(RUSAGE_SELF, &used) == 0) {
        encode_u8(&body, 1);
        encode_u64(&body, tracer_clock_now());
        thread_usage_encode(&body, 0, &used, 0);
        thread_usage_send_body(NULL, &body);
    }
    thread_usage_send_io(NULL);
    errno = saved;
}

void thread_usage_send(struct traced_thread *t, bool process)
{
    if (!t || !t->queue || t->life != atomic_load(&tracer.lifetime.number) ||
        !seccomp_allows(ALLOWED_USAGE) ||
        !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_USAGE))
        return;
    int saved = errno;
    uint8_t bytes[16 + 9 * USAGE_FIGURE_BYTES];
    struct encoder body = {.data = bytes, .room = sizeof bytes};
    struct rusage used;
    if (getrusage(process ? RUSAGE_SELF : RUSAGE_THREAD, &used) == 0) {
        encode_u8(&body, 1);
        encode_u64(&body, tracer_clock_now());
        thread_usage_encode(&body, process ? 0 : t->queue->thread, &used,
                            t->task && t->task->tid == getpid() ? before_ns : 0);
        message_queue_send(t, MESSAGE_USAGE, &body);
    }
    if (process)
        thread_usage_send_io(t);
    errno = saved;
}
