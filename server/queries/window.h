/* Windows: placed events, the question of every picture. */
#ifndef SERVER_QUERIES_WINDOW_H
#define SERVER_QUERIES_WINDOW_H

#include "server/queries/request_queue.h"
#include "wire/request_body.h"

struct window_job;

/* Takes the request over.  old: an earlier job of the viewer, done, that may be used again, or
 * NULL; it is freed either way. */
struct window_job *window_begin(const struct run *run, struct window_request *request,
                                struct window_job *old);
/* True: done, or, where that was asked for, something can be told early. */
bool window_step(struct window_job *job, uint64_t budget);
void window_put(struct window_job *job, struct response *reply); /* after that */
void window_free(struct window_job *job);

#endif
