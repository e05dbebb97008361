/* Windows: the query for placed events, which every diagram uses. */
#ifndef SERVER_QUERIES_WINDOW_H
#define SERVER_QUERIES_WINDOW_H

#include "server/queries/request_queue.h"
#include "wire/request.h"

struct window_job;

/* Begins a window and takes ownership of the request. old: an earlier completed job of the viewer
 * that may be reused, or NULL; it is freed either way. */
struct window_job *window_begin(const struct run *run, struct window_request *request,
                                struct window_job *old);
/* Returns true when done or, if the request allows it, when a partial result can be sent early. */
bool window_step(struct window_job *job, uint64_t budget);
/* After window_step() returned true. */
void window_put(struct window_job *job, struct response *reply);
void window_free(struct window_job *job);

#endif
