#define _GNU_SOURCE
#include "clients/libpoet/profile/cpu_clock.h"

#include "base/clock.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/tracer_clock.h"

#include <errno.h>
#include <time.h>

#define GAP_NS 4000u
#define LOOKS 4
#define GAP_TICKS 12000u /* 3 to 6 us, as fast as counters of today count */

static uint64_t cpu_clock_read_ns(void)
{
    struct timespec ts = {0};
    int saved = errno;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    errno = saved;
    return timespec_ns(ts);
}

static uint64_t cpu_clock_timestamp(const struct traced_thread *t)
{
    return t->queue->clock == QUEUE_CLOCK_TICKS ? CLOCK_TICKS()
                                                : tracer_clock_now_in_unit(t->queue->clock);
}

/* Returns a gap so large that reading the clock takes no more than a twentieth of it. */
static uint64_t cpu_clock_gap(const struct traced_thread *t)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t from = cpu_clock_timestamp(t);
        cpu_clock_read_ns();
        uint64_t took = cpu_clock_timestamp(t) - from;
        least = took < least ? took : least;
    }
    uint64_t usual = t->queue->clock == QUEUE_CLOCK_TICKS ? GAP_TICKS : GAP_NS;
    return 20 * least > usual && 20 * least < 10 * usual ? 20 * least : usual;
}

/* A thread of the system has always had its clock; the earlier time of a task is not known. */
void cpu_clock_want(struct traced_thread *t, bool wanted)
{
    wanted = wanted && seccomp_allows(ALLOWED_CPU);
    if (!wanted == !t->cpu_clock.gap)
        return;
    t->cpu_clock.gap = wanted ? cpu_clock_gap(t) : 0;
    t->cpu_clock.recorded_at = cpu_clock_timestamp(t);
    t->cpu_clock.restarted = wanted;
    t->cpu_clock.used_ns = 0;
    t->cpu_clock.since_ns = t->task || !wanted ? 0 : cpu_clock_read_ns();
}

struct activity_record cpu_clock_now(struct traced_thread *t)
{
    struct activity_record head = {.what = ACTIVITY_CPU,
                                   .cpu_ns = t->cpu_clock.used_ns +
                                             (cpu_clock_read_ns() - t->cpu_clock.since_ns)};
    if (t->cpu_clock.restarted && !t->task)
        head.what |= ACTIVITY_CPU_ANEW;
    return head;
}

void cpu_clock_away(struct thread_cpu_clock *clock)
{
    if (clock->gap && seccomp_allows(ALLOWED_CPU))
        clock->used_ns += cpu_clock_read_ns() - clock->since_ns;
}

void cpu_clock_back(struct thread_cpu_clock *clock)
{
    if (clock->gap && seccomp_allows(ALLOWED_CPU))
        clock->since_ns = cpu_clock_read_ns();
}
