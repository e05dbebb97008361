#define _GNU_SOURCE
#include "clients/trace/measure/cpuclock.h"

#include "clients/trace/core/clock.h"

#include <errno.h>
#include <time.h>

#define GAP_NS 4000u
#define GAP_TICKS 12000u /* 3 to 6 us, as fast as counters of today count */

static uint64_t cpu_ns(void)
{
    struct timespec ts = {0};
    int saved = errno;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    errno = saved;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A thread of the system has always had its clock; what a task had before is not known. */
void cpuclock_want(struct thread *t, bool wanted)
{
    if (!wanted == !t->clock_gap)
        return;
    t->clock_gap = !wanted                                  ? 0
                   : t->queue->clock == QUEUE_CLOCK_TICKS ? GAP_TICKS
                                                            : GAP_NS;
    t->cpu_anew = wanted;
    t->cpu_had = 0;
    t->cpu_since = t->task ? 0 : cpu_ns();
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
    if (t->clock_gap)
        t->cpu_had += cpu_ns() - t->cpu_since;
}

void cpuclock_back(struct thread *t)
{
    if (t->clock_gap)
        t->cpu_since = cpu_ns();
}
