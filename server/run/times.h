/* Times that agree with the order.
 *
 * Processes on one host read one clock.  The clocks of several hosts are fitted: for each pair of hosts,
 * the least of (receive time - send time) in both directions, per stretch of the run, gives their
 * offset (the midpoint, as Cristian 1989 takes it), a line through the offsets gives their drift, and a tree of
 * the busiest pairs ties all hosts to the first.
 *
 * What still contradicts the order is repaired within a window: an event is moved forwards to
 * the latest of what it follows, as Lamport's clock does (1978), and only the events that need it are moved
 * (after Taylor and Coffin 1994). */
#ifndef SERVER_RUN_TIMES_H
#define SERVER_RUN_TIMES_H

#include "server/run/run.h"

/* Fitted time of an event, ns from the start of the run by the first host's clock. */
int64_t times_fitted(const struct run *run, uint64_t position);
/* Least fitted time of a run. */
int64_t times_begin(const struct run *run);
/* First position of the log at which an event is at or after a time; the log's length if there is none. */
uint64_t times_position(const struct run *run, int64_t time_ns);

/* A window placed by time: from a time on, so many ns to a column. */
struct times;
struct times *times_new(const struct run *run, int64_t from_ns, uint64_t column_ns);
void times_free(struct times *times);
/* For struct placing. */
uint64_t times_cut(void *times, uint32_t line);
int32_t times_column(void *times, uint64_t begin, uint64_t end);
int64_t times_at(const struct times *times, uint64_t position); /* repaired */

#endif
