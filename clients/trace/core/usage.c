#define _GNU_SOURCE
#include "clients/trace/core/usage.h"

#include "clients/trace/core/tell.h"
#include "wire/region.h"
#include "wire/usage.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

static _Atomic bool forbidden;

void usage_forbid(void) { atomic_store(&forbidden, true); }

static uint64_t ns_of(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void put(struct out *body, uint32_t thread, const struct rusage *u)
{
    const struct usage_figure figures[] = {
        {thread, USAGE_CPU_USER, ns_of(u->ru_utime)},
        {thread, USAGE_CPU_SYSTEM, ns_of(u->ru_stime)},
        {thread, USAGE_FAULTS, (uint64_t)u->ru_minflt},
        {thread, USAGE_MAJOR_FAULTS, (uint64_t)u->ru_majflt},
        {thread, USAGE_SLEEPS, (uint64_t)u->ru_nvcsw},
        {thread, USAGE_PREEMPTIONS, (uint64_t)u->ru_nivcsw},
        {0, USAGE_PEAK, (uint64_t)u->ru_maxrss * 1024},
    };
    uint32_t count = sizeof figures / sizeof *figures - (thread != 0);
    put_u32(body, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u32(body, figures[i].thread);
        put_u8(body, figures[i].meter);
        put_u64(body, figures[i].value);
    }
}

void usage_tell(struct thread *t, bool process)
{
    if (!t || !t->queue || t->life != atomic_load(&live) || atomic_load(&forbidden) ||
        !(atomic_load_explicit(&t->queue->wanted, memory_order_relaxed) & WANTED_USAGE))
        return;
    int saved = errno;
    uint8_t bytes[16 + 8 * USAGE_FIGURE_BYTES];
    struct out body = {.data = bytes, .room = sizeof bytes};
    struct rusage used;
    struct timespec now;
    if (getrusage(process ? RUSAGE_SELF : RUSAGE_THREAD, &used) == 0 &&
        clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
        put_u8(&body, 1);
        put_u64(&body, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
        put(&body, process ? 0 : t->queue->thread, &used);
        tell_control(t, MESSAGE_USAGE, &body);
    }
    errno = saved;
}
