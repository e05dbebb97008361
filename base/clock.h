/* Readings of clocks in nanoseconds. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns a time since the epoch of its clock, which is not negative, in ns. */
static inline uint64_t timespec_ns(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the current time of a clock in ns; 0 if it cannot be read. */
static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return timespec_ns(time);
}

#endif
