/* What a thread's calls were in a part of the run: sums as of one time less those as of an earlier
 * one.
 *
 * Sums are known as of the times at which they were told (profile_history.h), about once a second:
 * the part begins with the last of these at or before the one that is asked for (else with the
 * thread), and ends with the first at or after it (else with the newest).  Nothing is guessed in
 * between.  The least and the most of single calls are of the whole life: they are left out.  Times
 * are of the program's clock, ns. */
#ifndef SERVER_TIMING_PROFILE_RANGE_H
#define SERVER_TIMING_PROFILE_RANGE_H

#include "server/timing/call_contexts.h"

struct profile_range {
    struct call_context_thread thread; /* its sums are those of the part */
    uint64_t from_ns, to_ns; /* from_ns 0: from the thread's begin on */
};

/* from_ns 0, to_ns UINT64_MAX: open. */
struct profile_range profile_range_make(const struct call_context_thread *thread, uint64_t from_ns,
                                        uint64_t to_ns);
void profile_range_free(struct profile_range *part);

#endif
