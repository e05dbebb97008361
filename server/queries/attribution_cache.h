/* Why the threads of a run waited (server/analysis/wait_attribution.h), kept with the run beside
 * what was measured.
 *
 * It is found when it is first asked for, and goes on from there as the run grows; begins anew
 * where what was measured did.  All questions about why share it. */
#ifndef SERVER_QUERIES_ATTRIBUTION_CACHE_H
#define SERVER_QUERIES_ATTRIBUTION_CACHE_H

#include "server/analysis/wait_groups.h"
#include "server/analysis/wait_attribution.h"
#include "server/run/run.h"

/* Goes on, about `budget` intervals, over all that was measured by now; true once that is
 * explained. */
bool attribution_cache_step(const struct run *run, enum attribution_since since, uint64_t *budget);
/* So far; never NULL.  Until the run goes, or what was measured began anew. */
struct wait_attribution *attribution_cache_get(const struct run *run, enum attribution_since since);
/* Groups of all waits, of all threads from begin to end: those that were given back last, if they
 * are of the same, to go on from; else none yet.  Whoever takes them gives them back, or frees
 * them. */
struct wait_groups attribution_cache_acquire(const struct run *run, enum attribution_since since,
                                             struct wait_grouping grouping);
void attribution_cache_release(const struct run *run, struct wait_groups groups);
/* Bit by bit: which categories of steps (config/target.h) are communication. */
uint64_t attribution_cache_communication(void);

#endif
