/* Cache of the wait attribution of a run (server/analysis/wait_attribution.h), kept with the run
 * beside its intervals.
 *
 * It is computed on first use, continues as the run grows, and is computed again when the intervals
 * are.  All requests for wait causes share it. */
#ifndef SERVER_QUERIES_ATTRIBUTION_CACHE_H
#define SERVER_QUERIES_ATTRIBUTION_CACHE_H

#include "server/analysis/wait_groups.h"
#include "server/analysis/wait_attribution.h"
#include "server/run/run.h"

/* Continues by about `budget` intervals; returns true once all waits in the known intervals are
 * explained. */
bool attribution_cache_step(const struct run *run, enum attribution_since since, uint64_t *budget);
/* Returns the attribution known so far; never NULL.  Valid until the run is freed or its intervals
 * are computed again. */
struct wait_attribution *attribution_cache_get(const struct run *run, enum attribution_since since);
/* Returns groups of all waits of all threads over the whole run: the ones released last if they
 * have the same grouping, to continue from, else empty ones.  The caller owns them and must release
 * or free them. */
struct wait_groups attribution_cache_acquire(const struct run *run, enum attribution_since since,
                                             struct wait_grouping grouping);
void attribution_cache_release(const struct run *run, struct wait_groups groups,
                               uint64_t generation);
/* Returns a bit mask of the categories of code segments (config/target.h) that are communication.
 */
uint64_t attribution_cache_communication(void);

#endif
