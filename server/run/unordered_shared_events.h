/* Index by time of the events of shared lines.
 *
 * Along an exclusive line times grow, so that a time is found by binary search.  On a shared line
 * they need not: the least and the greatest time of each range of consecutive events are kept. */
#ifndef SERVER_RUN_UNORDERED_SHARED_EVENTS_H
#define SERVER_RUN_UNORDERED_SHARED_EVENTS_H

#include "server/run/run.h"

struct unordered_events;

/* Adds new events of a line to the index, at most *budget; returns true once all are added. */
bool unordered_events_update(const struct run *run, uint32_t line, uint64_t *budget);
/* Calls visit for each indexed event of the line whose point is within a time span. */
void unordered_events_visit(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                            void (*visit)(void *context, uint64_t position, int64_t time_ns),
                            void *context);
/* Returns the number of indexed events before a time. */
uint64_t unordered_events_before(const struct run *run, uint32_t line, int64_t time_ns);
/* Lowers *first to the first position of an indexed event at or after a time, and raises *after to
 * the position after the last one before it. */
void unordered_events_bounds(const struct run *run, uint32_t line, int64_t time_ns, uint64_t *first,
                             uint64_t *after);

#endif
