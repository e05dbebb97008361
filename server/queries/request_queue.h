/* Queue of pending requests of one viewer.  Requests for the diagram come first, the oldest before
 * the others; of all others those for the overview get every other step, and all a step each in
 * turn. */
#ifndef SERVER_QUERIES_REQUEST_QUEUE_H
#define SERVER_QUERIES_REQUEST_QUEUE_H

#include "server/queries/query.h"

struct window_job;

/* Zero-initialize it; `run` is set when a run is selected. */
struct request_queue {
    const struct run *run;
    struct request_queue_item {
        uint32_t id;
        const struct query *query; /* private to request_queue.c */
        void *job; /* owned by the query, opaque to the queue */
    } items[LIMIT_REQUESTS]; /* the oldest first */
    unsigned count;
    unsigned turn; /* index of the item that gets the next step */
    bool overview_next; /* the next step is for the overview, if that is requested */
    struct window_job *kept; /* the window job answered last: the next window can reuse it */
};

/* Adds a request, given its head and body; makes `in` fail if it is invalid.  A run must be
 * selected. */
void request_queue_add(struct request_queue *queue, const struct request_header *asked,
                       struct decoder *in, struct encoder *out);
void request_queue_cancel(struct request_queue *queue, uint32_t id);
/* Drops all requests; with `out`, sends a refusal for each. */
void request_queue_clear(struct request_queue *queue, struct encoder *out);
/* Returns whether a job waits for a step. */
bool request_queue_has_work(const struct request_queue *queue);
/* Does a step of the next job. */
void request_queue_step(struct request_queue *queue, struct encoder *out);
/* Returns whether a stream is pending. request_queue_refill() continues it as the viewer reads. */
bool request_queue_has_stream(const struct request_queue *queue);
void request_queue_refill(struct request_queue *queue, struct encoder *out);

#endif
