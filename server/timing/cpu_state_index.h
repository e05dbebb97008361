/* What is kept of where threads were: inside cpu_states.c, which fills it, cpu_state_index.c and
 * resume_delay.c, which look at it. */
#ifndef SERVER_TIMING_CPU_STATE_INDEX_H
#define SERVER_TIMING_CPU_STATE_INDEX_H

#include "base/map.h"
#include "server/timing/cpu_turns.h"
#include "wire/asleep.h"

#include <stdlib.h>

struct cpu_sample {
    int64_t at_ns, ran_ns, ready_ns;
    bool anew; /* nothing is known of what was before it */
};

struct cpu_samples {
    struct cpu_sample *items;
    size_t count, room;
};

struct cpu_state_thread {
    struct cpu_turns turns;
    struct cpu_samples samples;
    struct cpu_samples clocks; /* at its events; ready_ns is not told */
    bool ended; /* the last sample is what it said at its end */
    unsigned asleep; /* an enum asleep: in which call it was seen to sleep last, */
    int64_t asleep_ns; /*   and when */
    bool awake; /* it was seen to run since then */
};

struct cpu_states {
    struct map threads; /* line -> struct thread */
    struct placements *stays; /* of tasks; NULL: none were told */
    size_t turns;
    bool cpus; /* of some of them it is known on which processor */
    uint64_t lost;
    uint64_t most; /* SWITCHES_MOST, once there was no more room; 0 before */
    char *why; /* there are no switches; NULL: nobody said */
};

static inline struct cpu_state_thread *cpu_states_thread(const struct cpu_states *spans,
                                                         uint32_t line)
{
    return spans ? map_get(&spans->threads, line, 0) : NULL;
}

/* Index of the first sample after a time; the count, if there is none. */
size_t cpu_states_sample_after(const struct cpu_samples *s, int64_t at_ns);

#endif
