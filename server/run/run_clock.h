/* Clock of a run: its begin, its end, and how far it is now.
 *
 * Times of a run are ns since its begin, by the monotonic clock of its first program.  A
 * zero-initialized clock has not begun.  Not thread-safe. */
#ifndef SERVER_RUN_RUN_CLOCK_H
#define SERVER_RUN_RUN_CLOCK_H

#include <stdint.h>
#include <time.h>

struct run_clock {
    uint64_t start_ns; /* monotonic clock of the first program at the begin */
    uint64_t wall_ns; /* wall clock of its host at the begin; 0: there was no program yet */
    int64_t ahead_ns; /* time of the run minus this host's monotonic clock */
    int64_t last_ns; /* time of the latest event; program_session.c raises it */
    /* When the last program hung up; journal_reader.c sets it.  0: unknown, or the run is live. */
    int64_t ended_ns;
};

static inline int64_t run_clock_read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Begins the run, with one moment on both clocks of its first program.  Reads this host's wall
 * clock once to determine how far the run is; it may be set to another time later. */
static inline void run_clock_begin(struct run_clock *clock, uint64_t start_ns, uint64_t wall_ns)
{
    clock->start_ns = start_ns;
    clock->wall_ns = wall_ns;
    clock->ahead_ns =
        run_clock_read_ns(CLOCK_REALTIME) - (int64_t)wall_ns - run_clock_read_ns(CLOCK_MONOTONIC);
}

/* Returns the current time by the run's clock, as far as this host's clock agreed with that of its
 * first program when the run began here. */
static inline int64_t run_clock_now_ns(const struct run_clock *clock)
{
    int64_t now = run_clock_read_ns(CLOCK_MONOTONIC) + clock->ahead_ns;
    return now > clock->last_ns ? now : clock->last_ns;
}

#endif
