/* Threads that may still have an event in the window, used where there are too many lines to check
 * each of them.
 *
 * A thread's events come one after the other, so that their columns grow.  Once a thread has one
 * beyond the window, no line gets an event of that thread in the window any more. */
#ifndef SERVER_ORDER_LAYOUT_ACTIVE_THREADS_H
#define SERVER_ORDER_LAYOUT_ACTIVE_THREADS_H

#include "server/order/layout/layout_pass.h"

void active_threads_begin(struct layout_job *job);
/* Returns how many threads may still have events in the window, according to `may`; they are
 * watched from here on. */
size_t active_threads_watch(struct layout_job *job, struct layout_pass *pass,
                            bool (*may)(const struct layout_job *job,
                                        const struct layout_pass *pass, uint32_t thread));
/* Records an event of a watched thread. last: the thread has no further event in the window. */
void active_threads_see(struct layout_job *job, struct layout_pass *pass, uint32_t thread,
                        int32_t column, bool last);
void active_threads_end(struct layout_job *job);

#endif
