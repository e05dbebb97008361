/* What a run's threads did between their events: its intervals, kept with the run.
 *
 * They are found in one pass over the log when they are first asked for, and go on from there where
 * the run grows; all questions about waiting share them. */
#ifndef SERVER_QUERIES_INTERVAL_CACHE_H
#define SERVER_QUERIES_INTERVAL_CACHE_H

#include "server/timing/intervals.h"
#include "server/run/run.h"

/* Looks at what is new, about `budget` events of it; true once all is known.  Where something was
 * forgotten, or a description came, or the clocks of hosts were fitted anew, it begins anew: then
 * interval_cache_generation grows. */
bool interval_cache_step(const struct run *run, uint64_t *budget);
/* There is no more room for what threads did, which may take a sixth of the machine's memory:
 * nothing more of it is learnt, and no question about all of it is answered. */
bool interval_cache_full(const struct run *run);
/* There is room for about so many events, as far as is known by now; UINT64_MAX: nothing is. */
uint64_t interval_cache_capacity(const struct run *run);
/* Of a run of which nothing is learnt yet: these positions alone, first .. end - 1
 * (partial_run.h). */
void interval_cache_begin(const struct run *run, uint64_t first, uint64_t end);
/* So far; never NULL.  Until the next call of interval_cache_step. */
const struct intervals *interval_cache_get(const struct run *run);
uint64_t interval_cache_position(const struct run *run); /* so many positions are known */
/* What the description says of the event's time (config/target.h); 0 nothing, or it is
 * forgotten. */
uint8_t interval_cache_category(const struct run *run, uint64_t position);
/* What an event of the run means, as the description says. */
const struct event_meaning *interval_cache_meaning(const struct run *run,
                                                   const struct order_event *event);
uint64_t interval_cache_generation(const struct run *run);
/* The waits that have not ended by what is known, until its end (UNATTRIBUTED_OPEN, without an
 * end); they are no intervals yet.  Returns how many (caller frees *waits). */
size_t interval_cache_open(const struct run *run, struct wait_record **waits);
/* Up to when who waits still has waited: now, or the end of the run. */
int64_t interval_cache_until_ns(const struct run *run);
/* The time up to which anything is known. */
int64_t interval_cache_end_ns(const struct run *run);

#endif
