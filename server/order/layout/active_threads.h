/* Which threads may still have an event in the window: where there are too many lines to ask each
 * of them.
 *
 * A thread's events come one after the other, so that their columns grow.  Once a thread has one
 * beyond the window, no line gets an event of that thread in the window any more. */
#ifndef SERVER_ORDER_LAYOUT_ACTIVE_THREADS_H
#define SERVER_ORDER_LAYOUT_ACTIVE_THREADS_H

#include "server/order/layout/layout_pass.h"

void active_threads_begin(struct layout_job *job);
/* How many threads may still have events in the window, by `may`; they are watched from here on. */
size_t active_threads_watch(struct layout_job *job, struct layout_pass *sweep,
                            bool (*may)(const struct layout_job *job,
                                        const struct layout_pass *sweep, uint32_t thread));
/* One that is watched has an event; last: it has no further one, or all further ones are beyond the
 * window. */
void active_threads_see(struct layout_job *job, struct layout_pass *sweep, uint32_t thread,
                        int32_t column, bool last);
void active_threads_end(struct layout_job *job);

#endif
