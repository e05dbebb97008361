#define _GNU_SOURCE
#include "clients/libpoet/core/tracer_clock.h"

#include "base/clock.h"
#include "clients/libpoet/core/environment.h"
#include "base/likely.h"
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/core/tracer_lock.h"
#include "clients/libpoet/core/thread.h"
#include "wire/slot.h"
#include "wire/testclock.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static _Atomic bool tracer_clock_by_call;
static struct test_clock tracer_clock_shift;

#if defined(__x86_64__)
/* The process that started the program may have disabled the counter: reading it then raises a
 * signal. */
static bool ticks_forbidden(void)
{
    int mode = PR_TSC_ENABLE;
    return prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE;
}

static bool ticks_steadily(void)
{
    unsigned a, b, c, d;
    char source[8] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    bool used = fd >= 0 && read(fd, source, sizeof source - 1) > 0 && strcmp(source, "tsc\n") == 0;
    if (fd >= 0)
        close(fd);
    return used && __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}
#else
static bool ticks_forbidden(void) { return false; }
static bool ticks_steadily(void) { return false; }
#endif

/* Readings of the counter and the clock at the same time; with a later pair they give the counter's
 * frequency. */
static struct clock_pair_sample {
    uint64_t ns, ticks;
} begun, stopped;
static double ticks_per_ns;

static struct clock_pair_sample tracer_clock_now_both(void)
{
    uint64_t ns =
        /* before the counter: a converted time is never earlier than the clock's */
        tracer_clock_now();
    return (struct clock_pair_sample){ns, CLOCK_TICKS()};
}

/* Reading the counter takes half the time; it is used if it is invariant and the kernel trusts it,
 * too. */
void tracer_clock_begin(void)
{
    const char *wanted = environment_get("POET_CLOCK");
    const char *set = environment_get(TEST_CLOCK);
    tracer_clock_shift = test_clock_of(set);
    tracer_clock_by_call = ticks_forbidden(); /* the C library would read the counter, too */
    tracer.clock.has_ticks = !tracer_clock_by_call && !set &&
                             (!wanted || strcmp(wanted, "monotonic") != 0) && ticks_steadily();
    if (tracer.clock.has_ticks)
        begun = tracer_clock_now_both();
}

#define LEAST_NS 2000000u /* between the two times */

/* Once for all threads, also for those that may still read it: a queue keeps the unit with which it
 * began. */
void tracer_clock_forbidden(void)
{
    static latch once;
    latch_lock(&once);
    if (atomic_load(&tracer.clock.has_ticks)) {
        do
            stopped = tracer_clock_now_both();
        while (stopped.ns - begun.ns < LEAST_NS);
        ticks_per_ns = (double)(stopped.ticks - begun.ticks) / (double)(stopped.ns - begun.ns);
    }
    atomic_store(&tracer_clock_by_call, true);
    atomic_store(&tracer.clock.has_ticks, false);
    latch_unlock(&once);
}

uint64_t tracer_clock_now(void)
{
    struct timespec ts;
    if (LIKELY(!atomic_load_explicit(&tracer_clock_by_call, memory_order_relaxed)))
        clock_gettime(CLOCK_MONOTONIC, &ts);
    else
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return test_clock_shown(&tracer_clock_shift, timespec_ns(ts));
}

const char *tracer_clock_host(void) { return tracer_clock_shift.host; }

uint64_t tracer_clock_now_in_unit(uint32_t unit)
{
    uint64_t now = tracer_clock_now();
    return unit == QUEUE_CLOCK_NS
               ? now
               : stopped.ticks + (uint64_t)((double)(now - stopped.ns) * ticks_per_ns);
}
