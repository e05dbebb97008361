/* Times that agree with the order.
 *
 * Processes on one host read one clock.  The clocks of several hosts are fitted: for each pair
 * of hosts, the least of (receive time - send time) in both directions, per stretch of the run,
 * gives their offset (the midpoint, as Cristian 1989 takes it), a line through the offsets gives
 * their drift, and a tree of the busiest pairs ties all hosts to the first. (A window corrects
 * times that still contradict the order: server/queries/time_layout.h.) */
#ifndef SERVER_RUN_EVENT_TIMES_H
#define SERVER_RUN_EVENT_TIMES_H

#include "server/run/run.h"

/* Returns the fitted time of an event, ns from the start of the run by the first host's clock. */
int64_t event_times_fitted(const struct run *run, uint64_t position);
int64_t event_times_for_process(const struct run *run,
                                const struct order_event *event); /* one that was read */
int64_t event_times_of(const struct run *run, const struct event_time *event); /* of one */
/* Returns the least fitted time of a run. */
int64_t event_times_begin(const struct run *run);
/* Returns the end of the time range of a run: after its last event; of a finished run in which a
 * program was killed, when the last one ended, until which its threads may have waited. */
int64_t event_times_end(const struct run *run);
/* Returns the first position of the log at which an event is at or after a time; the log's length
 * if there is none. */
uint64_t event_times_position(const struct run *run, int64_t time_ns);
/* Returns the position after the last event that any line has at or before a time. */
uint64_t event_times_position_after(const struct run *run, int64_t time_ns);
/* Returns the time of an event's point: the latest of its members. */
int64_t event_times_point(const struct run *run, uint64_t position);

/* ---- events by time ----
 *
 * Events of a line by time: how many are in a time span, and which.
 *
 * Times are those of synchronization points, ns of the run: of a group, that of its latest member.
 * Along exclusive lines the events' own times grow, so that a time is found by binary search; the
 * points of those as near to it as members of a point are apart are compared one by one, at most
 * 16384 of a line, 1024 where the clocks of several hosts meet.  For shared lines, and where a
 * caller indexes all lines, the least and the greatest time of each range of consecutive events are
 * kept with the run.  A query takes time logarithmic in the number of events, and linear in the
 * length of the part in which events before a time and after it are mixed.  Not thread-safe. */

/* Returns whether all lines of a set are to be indexed, exclusive ones too: they have few enough
 * events. If not, exclusive lines are searched. The answer is the argument all_indexed of the other
 * functions. */
bool events_by_time_may_index(const struct run *run, const uint32_t *lines, uint32_t count);
/* Indexes the new events of a line, if it is to be indexed, at most *budget; returns true once all
 * are. */
bool events_by_time_update(const struct run *run, uint32_t line, bool all_indexed,
                           uint64_t *budget);
/* Returns the number of events of a line, of an indexed one those that were indexed, in a time
 * span. */
uint64_t events_by_time_count(const struct run *run, uint32_t line, bool all_indexed,
                              int64_t from_ns, int64_t to_ns);
/* Calls visit for each of them. */
void events_by_time_visit(const struct run *run, uint32_t line, bool all_indexed, int64_t from_ns,
                          int64_t to_ns,
                          void (*visit)(void *context, uint64_t position, int64_t time_ns),
                          void *context);
/* Lowers *first to the first position of an indexed event at or after a time, and raises *after to
 * the position after the last one before it. */
void events_by_time_bounds(const struct run *run, uint32_t line, bool all_indexed, int64_t time_ns,
                           uint64_t *first, uint64_t *after);
/* Returns how many events of a line are left of a window that begins at a time, counted from the
 * line's first one: of a shared line those before the time, of another one those before its first
 * event that is not. */
uint64_t events_by_time_first(const struct run *run, uint32_t line, bool all_indexed,
                              int64_t time_ns);

#endif
