/* A clock that a test sets: POET_TEST_CLOCK=OFFSET_NS,PPM[,SINCE_NS[,HOST]] in the environment of
 * an agent and of its programs shifts the clock that they read, by so much at SINCE_NS of the
 * machine's monotonic clock (0), and lets it go so much faster; HOST is what they call their
 * machine.  So several hosts can be on one. */
#ifndef WIRE_TESTCLOCK_H
#define WIRE_TESTCLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEST_CLOCK "POET_TEST_CLOCK"
#define TEST_CLOCK_PPM_MOST 1000

struct test_clock {
    int64_t offset_ns, ppm, since_ns;
    const char *host; /* of the text; NULL none */
};

static inline struct test_clock test_clock_of(const char *text)
{
    struct test_clock clock = {0};
    char *at = (char *)(uintptr_t)text;
    int64_t *numbers[] = {&clock.offset_ns, &clock.ppm, &clock.since_ns};
    for (unsigned i = 0; at && *at && i < 3; i++) {
        *numbers[i] = strtoll(at, &at, 10);
        at = *at == ',' ? at + 1 : NULL;
    }
    clock.host = at && *at ? at : NULL;
    if (clock.ppm > TEST_CLOCK_PPM_MOST || clock.ppm < -TEST_CLOCK_PPM_MOST)
        clock.ppm = 0;
    return clock;
}

static inline uint64_t test_clock_shown(const struct test_clock *clock, uint64_t ns)
{
    int64_t passed = (int64_t)ns - clock->since_ns;
    return ns + (uint64_t)(clock->offset_ns + passed * clock->ppm / 1000000);
}

#endif
