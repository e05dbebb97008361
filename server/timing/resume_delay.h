/* Wake-up latency: from the release of a thread until it resumed, and how long of that it was
 * runnable and had no CPU.
 *
 * The rest of the time it had a CPU and had not returned from its call.  The split is known if
 * - the kernel reported its context switches: exactly.  The moment until the kernel noticed the
 *   wake-up counts as runnable, as it is not recorded;
 * - the thread read its CPU clock at the end of the wait, and at its begin or before: it did not
 *   run for longer than the difference, so it was runnable at least for the rest.  Samples of CPU
 *   time are too coarse. */
#ifndef SERVER_TIMING_RESUME_DELAY_H
#define SERVER_TIMING_RESUME_DELAY_H

#include "server/timing/cpu_states.h"

struct resume_delay {
    int64_t took_ns, ready_ns; /* ready_ns: the runnable part of it, if it is known */
    enum cpu_state_source source; /* CPU_SOURCE_ORDER: not known */
};

/* Returns the latency of a wait; took_ns is 0 if no event released it. whole: no more context
 * switches will be received. */
struct resume_delay resume_delay_measure(const struct cpu_states *spans,
                                         const struct intervals *all,
                                         const struct wait_record *wait, bool whole);
/* Returns the source as a text for a column. */
const char *resume_delay_source(enum cpu_state_source source);

#endif
