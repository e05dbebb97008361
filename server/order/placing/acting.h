/* Which threads may still have an event in the window: where there are too many lines to ask each of them.
 *
 * A thread's events come one after the other, so that their columns grow.  Once a thread has one beyond the
 * window, no line gets an event of that thread in the window any more. */
#ifndef SERVER_ORDER_PLACING_ACTING_H
#define SERVER_ORDER_PLACING_ACTING_H

#include "server/order/placing/sweep.h"

void acting_begin(struct place_job *job);
/* How many threads may still have events in the window, by `may`; they are watched from here on. */
size_t acting_watch(struct place_job *job, struct sweep *sweep,
                    bool (*may)(const struct place_job *job, const struct sweep *sweep,
                                uint32_t thread));
/* One that is watched has an event; last: it has no further one, or all further ones are beyond the window. */
void acting_see(struct place_job *job, struct sweep *sweep, uint32_t thread, int32_t column,
                bool last);
void acting_end(struct place_job *job);

#endif
