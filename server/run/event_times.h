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
/* Sets the ordinals *from .. *to - 1 of the events of an exclusive line whose points are at or
 * after from_ns and before to_ns. (For a shared line see unordered_shared_events.h.) */
void event_times_range(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                       uint64_t *from, uint64_t *to);
/* Lowers *first to the first position of an event of an exclusive line whose point is at or after a
 * time, and raises *after to the position after the last one before it. */
void event_times_bounds(const struct run *run, uint32_t line, int64_t time_ns, uint64_t *first,
                        uint64_t *after);

#endif
