/* CPU time that a thread could have used of an elapsed time: it was not slow itself while other
 * threads had its CPU. */
#ifndef CLIENTS_LIBPOET_REPLAY_CPU_TIME_USED_H
#define CLIENTS_LIBPOET_REPLAY_CPU_TIME_USED_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct cpu_time_sample { /* a thread at the last sample; zeroes: not sampled yet */
    uint32_t process, id;
    uint64_t ran_ns, queued_ns;
};

/* Returns the share of the time since the last sample, all of it if that is not known. Preserves
 * errno. */
uint64_t cpu_time_used(struct cpu_time_sample *slow, uint32_t process, uint32_t id,
                       uint64_t elapsed_ns);

#pragma GCC visibility pop
#endif
