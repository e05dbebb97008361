/* Partial run: the intervals of a part of a run that is too long to be processed as a whole, and
 * all that is computed from them, kept beside those of the run.
 *
 * Everything before and after the part counts as unknown; all threads begin where the part begins.
 * To read it, call partial_run_enter(), use the run as usual (interval_cache.h), and call
 * partial_run_leave() before any other use of the run. */
#ifndef SERVER_QUERIES_PARTIAL_RUN_H
#define SERVER_QUERIES_PARTIAL_RUN_H

#include "server/run/run.h"

struct partial_run {
    uint64_t first, end; /* positions first .. end - 1 */
    /* caches of the part; while the part is entered, those of the run */
    struct run_addon caches[RUN_ADDON_PATH_BASELINE - RUN_ADDON_INTERVALS + 1];
};

/* Makes the part for from_ns .. to_ns (INT64_MIN, INT64_MAX: open), with `around` events before and
 * after it, so that waits at its borders have their begin and end; fewer if that are too many. */
struct partial_run *partial_run_new(const struct run *run, int64_t from_ns, int64_t to_ns,
                                    uint64_t around);
/* Must have been left, or be NULL. */
void partial_run_free(struct partial_run *apart);
void partial_run_enter(const struct run *run, struct partial_run *apart);
void partial_run_leave(const struct run *run, struct partial_run *apart);

#endif
