/* A part of a run that is too long to be learnt as a whole: its intervals, and all that follows
 * from them, kept beside those of the run.
 *
 * What is before the part and after it counts as not known; where the part begins everybody
 * begins.  While one looks at it, it stands in the run's place: partial_run_enter, then as ever
 * (interval_cache.h), and partial_run_leave before anybody else looks. */
#ifndef SERVER_QUERIES_PARTIAL_RUN_H
#define SERVER_QUERIES_PARTIAL_RUN_H

#include "server/run/run.h"

struct partial_run {
    uint64_t first, end; /* positions first .. end - 1 */
    struct interval_cache *measured; /* the run's, meanwhile */
    struct attribution_cache *explained;
    struct path_baseline *basis;
};

/* What tells of from_ns .. to_ns (INT64_MIN, INT64_MAX: open), with so many events around it, in
 * which who waits there began to and went on; fewer if that are too many. */
struct partial_run *partial_run_new(const struct run *run, int64_t from_ns, int64_t to_ns,
                                    uint64_t around);
void partial_run_free(const struct run *run,
                      struct partial_run *apart); /* one that was left, or NULL */
void partial_run_enter(const struct run *run, struct partial_run *apart);
void partial_run_leave(const struct run *run, struct partial_run *apart);

#endif
