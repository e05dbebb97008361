/* Cache of the intervals of a run: what its threads did between their events.
 *
 * They are computed in one pass over the log on first use, and continued as the run grows; all
 * requests about waiting share them.  For a part of a run that is too long there is a cache of its
 * own (partial run).  Not thread-safe. */
#ifndef SERVER_QUERIES_INTERVAL_CACHE_H
#define SERVER_QUERIES_INTERVAL_CACHE_H

#include "server/run/run.h"
#include "server/timing/thread_states.h"

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
/* Returns the intervals known so far; never NULL.  Valid until the next interval_cache_step(). */
const struct intervals *interval_cache_get(const struct run *run);
/* Returns the number of known positions. */
uint64_t interval_cache_position(const struct run *run);
/* Returns the category of the event's time according to the target description (config/target.h); 0
 * if there is none or the event was discarded. */
uint8_t interval_cache_category(const struct run *run, uint64_t position);
/* Returns the meaning of an event according to the target description. */
const struct event_meaning *interval_cache_meaning(const struct run *run,
                                                   const struct order_event *event);
/* Returns a number that grows when the intervals are computed again. */
uint64_t interval_cache_generation(const struct run *run);
/* Returns the number of waits that have not ended (UNATTRIBUTED_OPEN, without an end; they are not
 * among the intervals yet) and sets *waits, which the caller frees. */
size_t interval_cache_open(const struct run *run, struct wait_record **waits);
/* Returns what the states of threads are computed from, except for the open waits. */
struct lifetimes interval_cache_lifetimes(const struct run *run);
/* Returns the same with the open waits, which last until now; sets *open to them, which the caller
 * frees after use. */
struct lifetimes interval_cache_all_lifetimes(const struct run *run, struct wait_record **open);
/* Returns the time up to which open waits last: now, or the end of the run. */
int64_t interval_cache_until_ns(const struct run *run);

/* ---- partial runs ---- */

/* Intervals of a part of a run that is too long to be processed as a whole, and all that is
 * computed from them, kept beside those of the run.
 *
 * Everything before and after the part counts as unknown; all threads begin where the part begins.
 * To read it, call partial_run_enter(), use the run as usual, and call partial_run_leave() before
 * any other use of the run. */
struct partial_run {
    uint64_t first, end; /* positions first .. end - 1 */
    /* caches of the part; while the part is entered, those of the run */
    struct run_addon caches[RUN_ADDON_PATH_BASELINE - RUN_ADDON_INTERVALS + 1];
};

/* Makes the part for from_ns .. to_ns (INT64_MIN, INT64_MAX: open), with `around` events before and
 * after it, so that waits at its borders have their begin and end; fewer if that are too many. */
struct partial_run *partial_run_new(const struct run *run, int64_t from_ns, int64_t to_ns,
                                    uint64_t around);
/* Frees a part, which must have been left, or be NULL. */
void partial_run_free(struct partial_run *apart);
void partial_run_enter(const struct run *run, struct partial_run *apart);
void partial_run_leave(const struct run *run, struct partial_run *apart);

#endif
