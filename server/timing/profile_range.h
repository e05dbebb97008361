/* Profile of a thread's calls in a part of the run: the sums as of one time minus those as of an
 * earlier one.
 *
 * Sums are known as of the times of the snapshots (call_contexts.h), about one per second.  The
 * part begins with the last snapshot at or before the requested begin (else with the thread), and
 * ends with the first at or after the requested end (else with the newest); nothing is
 * interpolated.  Minimum and maximum of single calls belong to the whole lifetime and are left out.
 * Times are ns of the program's clock. */
#ifndef SERVER_TIMING_PROFILE_RANGE_H
#define SERVER_TIMING_PROFILE_RANGE_H

#include "server/timing/call_contexts.h"

struct profile_range {
    struct call_context_thread thread; /* its sums are those of the part */
    uint64_t from_ns, to_ns; /* from_ns 0: from the thread's start on */
};

/* Makes the profile of a range; from_ns 0, to_ns UINT64_MAX: open.  The caller frees it. */
struct profile_range profile_range_make(const struct call_context_thread *thread, uint64_t from_ns,
                                        uint64_t to_ns);
void profile_range_free(struct profile_range *part);

#endif
