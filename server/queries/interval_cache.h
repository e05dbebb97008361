/* Cache of the intervals of a run: what its threads did between their events.
 *
 * They are computed in one pass over the log on first use, and continued as the run grows; all
 * requests about waiting share them. */
#ifndef SERVER_QUERIES_INTERVAL_CACHE_H
#define SERVER_QUERIES_INTERVAL_CACHE_H

#include "server/timing/thread_states.h"
#include "server/run/run.h"

/* Processes about `budget` new events; returns true once all are processed.  If events were
 * discarded, a description was added, or the clocks of hosts were fitted again, it starts again
 * from the beginning, and interval_cache_generation() increases. */
bool interval_cache_step(const struct run *run, uint64_t *budget);
/* Returns whether the memory limit, a sixth of the machine's memory, is reached: no further
 * intervals are added, and requests about the whole run are refused. */
bool interval_cache_full(const struct run *run);
/* Returns for about how many events there is memory, as estimated so far; UINT64_MAX if nothing is
 * known. */
uint64_t interval_cache_capacity(const struct run *run);
/* Restricts the cache to positions first .. end - 1 (partial_run.h).  No interval of the run may
 * have been computed yet. */
void interval_cache_begin(const struct run *run, uint64_t first, uint64_t end);
/* Returns the intervals known so far; never NULL.  Valid until the next interval_cache_step(). */
const struct intervals *interval_cache_get(const struct run *run);
uint64_t interval_cache_position(const struct run *run); /* returns the number of known positions */
/* Returns the category of the event's time according to the target description (config/target.h); 0
 * if there is none or the event was discarded. */
uint8_t interval_cache_category(const struct run *run, uint64_t position);
/* Returns the meaning of an event according to the target description. */
const struct event_meaning *interval_cache_meaning(const struct run *run,
                                                   const struct order_event *event);
uint64_t interval_cache_generation(const struct run *run);
/* Returns the number of waits that have not ended (UNATTRIBUTED_OPEN, without an end; they are not
 * among the intervals yet) and sets *waits, which the caller frees. */
size_t interval_cache_open(const struct run *run, struct wait_record **waits);
/* Returns what the states of threads are computed from, except for the open waits. */
struct lifetimes interval_cache_lifetimes(const struct run *run);
/* Returns the time up to which open waits last: now, or the end of the run. */
int64_t interval_cache_until_ns(const struct run *run);
/* Returns the time up to which anything is known. */
int64_t interval_cache_end_ns(const struct run *run);

#endif
