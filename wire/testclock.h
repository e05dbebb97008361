/* A clock for tests: POET_TEST_CLOCK=OFFSET_NS,PPM[,SINCE_NS[,HOST]] in the environment of an agent
 * and of its programs shifts their clock by OFFSET_NS at the time SINCE_NS (0) of the host's
 * monotonic clock, and makes it PPM faster; HOST is their host name. Thus one machine can simulate
 * several hosts. */
#ifndef WIRE_TESTCLOCK_H
#define WIRE_TESTCLOCK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEST_CLOCK "POET_TEST_CLOCK"
#define TEST_CLOCK_PPM_MOST 1000

struct test_clock {
    int64_t offset_ns, ppm, since_ns;
    const char *host; /* part of the text; NULL: none */
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
