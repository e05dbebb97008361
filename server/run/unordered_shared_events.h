/* The events of shared lines by time.
 *
 * Along an exclusive line times grow, so that what lies in a stretch of time is found by halving.
 * On a shared one they need not: of each piece of it (some events in a row) the least and the
 * greatest time are kept, once they were looked at. */
#ifndef SERVER_RUN_UNORDERED_SHARED_EVENTS_H
#define SERVER_RUN_UNORDERED_SHARED_EVENTS_H

#include "server/run/run.h"

struct unordered_events;

/* Looks at what is new on a line, at most so many events; true once all is known. */
bool unordered_events_update(const struct run *run, uint32_t line, uint64_t *budget);
/* Calls visit for each known event of the line whose point is in a stretch of time. */
void unordered_events_visit(const struct run *run, uint32_t line, int64_t from_ns, int64_t to_ns,
                            void (*visit)(void *context, uint64_t position, int64_t time_ns),
                            void *context);
/* Returns the number of known events before a time. */
uint64_t unordered_events_before(const struct run *run, uint32_t line, int64_t time_ns);
/* Lowers *first to the first position of a known event at or after a time, and raises *after to the
 * position after the last one before it. */
void unordered_events_bounds(const struct run *run, uint32_t line, int64_t time_ns, uint64_t *first,
                             uint64_t *after);
void unordered_events_free(struct unordered_events *astray);

#endif
