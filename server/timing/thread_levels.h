/* Levels of concurrency over time: how many threads ran, were runnable, and were blocked by class,
 * in each of equal parts of a range.
 *
 * A level counts the state intervals (thread_states.h) that cover a time, so that its sum over a
 * range is the time of all threads in that state, to the nanosecond.  The range is swept in slices,
 * of which only one is in memory.  Times are ns of the run.  Not thread-safe. */
#ifndef SERVER_TIMING_THREAD_LEVELS_H
#define SERVER_TIMING_THREAD_LEVELS_H

#include "server/timing/thread_states.h"

enum thread_level {
    LEVEL_RUNNING,
    LEVEL_RUNNABLE,
    LEVEL_BLOCKED, /* the next four together */
    LEVEL_CONTENTION,
    LEVEL_RENDEZVOUS,
    LEVEL_TIMEOUT,
    LEVEL_UNATTRIBUTED,
    LEVEL_OFF_CPU,
    THREAD_LEVELS
};

struct thread_level_words {
    const char *name; /* "off-CPU (other)" */
    const char *key; /* "other_off_cpu": in columns */
    const char *column; /* "other_off_cpu_ns" */
    bool class; /* a class of blocked */
};

extern const struct thread_level_words thread_level_words[THREAD_LEVELS];

/* The number of threads at each time of a part of the range. */
struct level_sum {
    int64_t total_ns; /* its integral: the sum over threads */
    uint32_t least, most;
};

struct level_part {
    int64_t from_ns, to_ns;
    struct level_sum of[THREAD_LEVELS];
};

struct thread_levels {
    int64_t from_ns, to_ns;
    /* Results: */
    struct level_part *parts; /* equal parts of the range, of at least 1 ns each */
    uint32_t part_count;
    struct level_time { /* by number of threads: how long exactly that many were in the state */
        int64_t ns[THREAD_LEVELS];
    } *at;
    uint32_t at_count;
    /* Private: */
    struct level_thread *threads;
    uint32_t thread_count;
    size_t thread_room;
    struct level_change *changes; /* of the current slice */
    size_t change_count, change_room;
    uint32_t slices, slice, thread; /* slices per part; the current ones */
    int32_t now[THREAD_LEVELS];
};

/* Begins with a range that is not empty; frees with thread_levels_free(). */
void thread_levels_begin(struct thread_levels *levels, int64_t from_ns, int64_t to_ns,
                         uint32_t parts);
/* Adds a thread, by its index among the intervals; what it did after until_ns does not count.  All
 * threads are added before the first step. */
void thread_levels_add(struct thread_levels *levels, const struct lifetimes *lives, uint32_t thread,
                       int64_t until_ns);
/* Processes about `budget` state intervals; returns true when all are processed.  The intervals may
 * grow meanwhile. */
bool thread_levels_step(struct thread_levels *levels, const struct lifetimes *lives,
                        uint64_t *budget);
/* Returns the sum of all parts. */
struct level_part thread_levels_total(const struct thread_levels *levels);
void thread_levels_free(struct thread_levels *levels);

#endif
