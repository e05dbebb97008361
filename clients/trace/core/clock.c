#define _GNU_SOURCE
#include "clients/trace/core/clock.h"

#include "clients/trace/core/environ.h"
#include "clients/trace/core/likely.h"
#include "clients/trace/core/lock.h"
#include "clients/trace/core/thread.h"
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

_Atomic bool clock_ticks;
static _Atomic bool clock_by_call;
static struct test_clock shift;

#if defined(__x86_64__)
/* Whoever started the program may have forbidden to read the counter: that is a signal. */
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

/* The counter and the clock at one time; at another one, later, they tell how fast the counter goes. */
static struct both {
    uint64_t ns, ticks;
} begun, stopped;
static double ticks_per_ns;

static struct both both_now(void)
{
    uint64_t ns =
        clock_now(); /* before the counter: what is converted is never before what was read */
    return (struct both){ns, CLOCK_TICKS()};
}

/* The counter is read in half the time, where it is invariant and the kernel trusts it, too. */
void clock_begin(void)
{
    const char *wanted = environment_get("POET_CLOCK");
    const char *set = environment_get(TEST_CLOCK);
    shift = test_clock_of(set);
    clock_by_call = ticks_forbidden(); /* the C library would read the counter, too */
    clock_ticks =
        !clock_by_call && !set && (!wanted || strcmp(wanted, "monotonic") != 0) && ticks_steadily();
    if (clock_ticks)
        begun = both_now();
}

#define LEAST_NS 2000000u /* between the two times */

/* Once for all threads, also those that may still read it: a queue goes on in the unit that it began with. */
void clock_forbidden(void)
{
    static latch once;
    latch_take(&once);
    if (atomic_load(&clock_ticks)) {
        do
            stopped = both_now();
        while (stopped.ns - begun.ns < LEAST_NS);
        ticks_per_ns = (double)(stopped.ticks - begun.ticks) / (double)(stopped.ns - begun.ns);
    }
    atomic_store(&clock_by_call, true);
    atomic_store(&clock_ticks, false);
    latch_give(&once);
}

uint64_t clock_now(void)
{
    struct timespec ts;
    if (LIKELY(!atomic_load_explicit(&clock_by_call, memory_order_relaxed)))
        clock_gettime(CLOCK_MONOTONIC, &ts);
    else
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
    return test_clock_shown(&shift, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

const char *clock_host(void) { return shift.host; }

uint64_t clock_instead(uint32_t unit)
{
    uint64_t now = clock_now();
    return unit == QUEUE_CLOCK_NS
               ? now
               : stopped.ticks + (uint64_t)((double)(now - stopped.ns) * ticks_per_ns);
}
