/* The questions of one viewer that are not answered yet.  Those for pictures come first, the oldest
 * before the others; all others have a step each in turn. */
#ifndef SERVER_QUERIES_REQUEST_QUEUE_H
#define SERVER_QUERIES_REQUEST_QUEUE_H

#include "server/queries/query.h"

struct window_job;

/* Zero-initialised: nobody asks; run is set by whoever selects it. */
struct request_queue {
    const struct run *run;
    struct request_queue_item {
        uint32_t id;
        const struct query *question; /* private: of request_queue.c alone, */
        void *job; /*   which never looks into it */
    } items[LIMIT_ASKED]; /* by age */
    unsigned count;
    unsigned turn; /* the item whose step is next */
    struct window_job *kept; /* the last one answered: scrolling goes on from it */
};

/* What a viewer asks for, head and body; fails `in` on nonsense.  There is a run. */
void request_queue_add(struct request_queue *desk, const struct request_header *asked,
                       struct decoder *in, struct encoder *out);
void request_queue_cancel(struct request_queue *desk, uint32_t id);
/* Drops all questions; with `out`, each with a refusal. */
void request_queue_clear(struct request_queue *desk, struct encoder *out);
/* Does anything wait for a step? */
bool request_queue_has_work(const struct request_queue *desk);
/* A step of the question whose turn it is. */
void request_queue_step(struct request_queue *desk, struct encoder *out);
/* Is there a stream?  It goes on as the viewer reads: */
bool request_queue_has_stream(const struct request_queue *desk);
void request_queue_refill(struct request_queue *desk, struct encoder *out);

#endif
