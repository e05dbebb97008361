/* How much of the time that went by a thread could have used: where others had its processor it was
 * not slow itself. */
#ifndef CLIENTS_LIBPOET_REPLAY_CPU_TIME_USED_H
#define CLIENTS_LIBPOET_REPLAY_CPU_TIME_USED_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct cpu_time_sample { /* a thread, as it was looked at last; zeroes: it was not */
    uint32_t process, id;
    uint64_t ran_ns, queued_ns;
};

/* Of what went by since then, all of it where that is not known.  Errno stays. */
uint64_t cpu_time_used(struct cpu_time_sample *slow, uint32_t process, uint32_t id,
                       uint64_t elapsed_ns);

#pragma GCC visibility pop
#endif
