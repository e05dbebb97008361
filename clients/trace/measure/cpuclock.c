#define _GNU_SOURCE
#include "clients/trace/measure/cpuclock.h"

#include "clients/trace/core/clock.h"

#include <errno.h>
#include <time.h>

#define GAP_NS 4000u
#define LOOKS 4
#define GAP_TICKS 12000u /* 3 to 6 us, as fast as counters of today count */

static uint64_t cpu_ns(void)
{
    struct timespec ts = {0};
    int saved = errno;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    errno = saved;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t stamp(const struct thread *t)
{
    return t->queue->clock == QUEUE_CLOCK_TICKS ? CLOCK_TICKS() : clock_instead(t->queue->clock);
}

/* So large that reading the clock takes no more than a twentieth of it. */
static uint64_t gap_of(const struct thread *t)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t from = stamp(t);
        cpu_ns();
        uint64_t took = stamp(t) - from;
        least = took < least ? took : least;
    }
    uint64_t usual = t->queue->clock == QUEUE_CLOCK_TICKS ? GAP_TICKS : GAP_NS;
    return 20 * least > usual && 20 * least < 10 * usual ? 20 * least : usual;
}

/* A thread of the system has always had its clock; what a task had before is not known. */
void cpuclock_want(struct thread *t, bool wanted)
{
    wanted = wanted && allowed(ALLOWED_CPU);
    if (!wanted == !t->clock_gap)
        return;
    t->clock_gap = wanted ? gap_of(t) : 0;
    t->recorded_at = stamp(t);
    t->cpu_anew = wanted;
    t->cpu_had = 0;
    t->cpu_since = t->task || !wanted ? 0 : cpu_ns();
}

struct measured_head cpuclock_now(struct thread *t)
{
    struct measured_head head = {.what = MEASURED_CPU,
                                 .cpu_ns = t->cpu_had + (cpu_ns() - t->cpu_since)};
    if (t->cpu_anew && !t->task)
        head.what |= MEASURED_CPU_ANEW;
    return head;
}

void cpuclock_away(struct thread *t)
{
    if (t->clock_gap && allowed(ALLOWED_CPU))
        t->cpu_had += cpu_ns() - t->cpu_since;
}

void cpuclock_back(struct thread *t)
{
    if (t->clock_gap && allowed(ALLOWED_CPU))
        t->cpu_since = cpu_ns();
}
