/* Internal data of cpu_states.h: for cpu_states.c, which fills it, and cpu_state_index.c, which
 * splits the time in which a thread ran by the best source. */
#ifndef SERVER_TIMING_CPU_STATE_INDEX_H
#define SERVER_TIMING_CPU_STATE_INDEX_H

#include "base/map.h"
#include "server/timing/cpu_turns.h"
#include "wire/os_usage.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct cpu_sample {
    int64_t at_ns, ran_ns, ready_ns;
    bool unknown_before; /* nothing is known of the time before it */
};

struct cpu_samples {
    struct cpu_sample *items;
    size_t count, room;
};

/* Basis of the shares of samples: they are computed again when it has changed. */
struct sample_basis {
    const struct interval *items;
    size_t samples, count;
    int64_t start_ns, end_ns, to_ns;
    int64_t last_ns, last_ran_ns, last_ready_ns; /* of the last sample */
};

struct cpu_state_thread {
    struct cpu_turns turns;
    struct cpu_samples samples;
    struct sample_share { /* running and runnable time between a sample and the one before it */
        int64_t ran_ns, ready_ns;
    } *shares; /* by sample; NULL: not computed */
    struct sample_basis basis; /* of the shares */
    struct cpu_samples clocks; /* at its events; ready_ns is not set */
    int64_t before_ns; /* the part of each sample that it ran before its first event */
    bool ended; /* the last sample is the thread's own value at its exit */
    uint64_t asleep; /* a value of USAGE_ASLEEP: the call in which it was last seen sleeping, */
    int64_t asleep_ns; /* and when */
    uint64_t futex[USAGE_FUTEX_FACTS]; /* of that call, if it waits at a futex; 0: not known */
    bool awake; /* it was seen running since then */
    uint32_t lock_holder; /* the thread that held the loader's lock, at which this one slept, */
    int64_t held_ns; /* and when both slept */
};

struct cpu_states {
    struct map threads; /* line -> struct cpu_state_thread */
    struct cpu_state_thread *found; /* the last one that was searched for, of the line found_line */
    uint32_t found_line;
    struct placements *placements; /* placements of tasks; NULL: none */
    size_t turns;
    bool cpus; /* the CPU of some context switches is known */
    uint64_t lost;
    uint64_t most; /* SWITCHES_MOST, once the limit is reached; 0 before */
    char *why; /* why there are no context switches; NULL: unknown */
};

/* Returns the thread of a line; NULL if nothing is known of it.  Most searches are for the same
 * line as the one before. */
static inline struct cpu_state_thread *cpu_states_thread(const struct cpu_states *spans,
                                                         uint32_t line)
{
    if (!spans || (spans->found && spans->found_line == line))
        return spans ? spans->found : NULL;
    /* the contents do not change, only what is remembered of the search */
    struct cpu_states *cache = (struct cpu_states *)(uintptr_t)spans;
    cache->found_line = line;
    return cache->found = map_get(&spans->threads, line, 0);
}

/* Returns the index of the first sample after a time, or the count if there is none. */
size_t cpu_states_sample_after(const struct cpu_samples *s, int64_t at_ns);

#endif
