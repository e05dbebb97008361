/* From where a thread was let go to where it went on: how long of that it could have run, and had
 * no processor.
 *
 * What is left is the latency of its waking up: it had a processor, and had not come back from its
 * call.  Known where
 * - the kernel said when it went on a processor and off it: exactly.  The moment until the system took note that it was
 *   let go counts as ready: nothing tells of it;
 * - it read its processor clock at the end of the wait, and at its begin or before: it did not run
 *   for longer than that
 *   says, so it was ready for the rest at least.
 * Samples of processor time are too coarse to tell. */
#ifndef SERVER_TIMING_RESUME_DELAY_H
#define SERVER_TIMING_RESUME_DELAY_H

#include "server/timing/cpu_states.h"

struct resume_delay {
    int64_t took_ns, ready_ns; /* ready_ns of it, if it is known */
    enum cpu_state_source source; /* CPU_SOURCE_ORDER: it is not known */
};

/* Of a wait; took_ns is 0 where nobody let it go.  whole: no more switches will be told. */
struct resume_delay resume_delay_measure(const struct cpu_states *spans,
                                         const struct intervals *all,
                                         const struct wait_record *wait, bool whole);
const char *resume_delay_source(enum cpu_state_source source); /* in words, as of a column */

#endif
