/* Interface of a query about a run: a file of this directory has a `const struct query
 * query_NAME` for each row of RUN_REQUESTS (wire/request.h).  A query is answered at once, or is
 * a job that works in steps, so that a large one delays no other. */
#ifndef SERVER_QUERIES_QUERY_H
#define SERVER_QUERIES_QUERY_H

#include "server/run/run.h"
#include "wire/request.h"
#include "wire/limits.h"

struct request_queue;

struct query {
    /* Answers at once, after decoder_finish(in).  On an invalid request it makes `in` fail and
     * appends nothing.  NULL: the query is a job, with these functions: */
    void (*at_once)(const struct run *run, struct decoder *in, struct response *reply);
    /* Returns a job, which the queue owns from then on; NULL, with `in` failed, if the request is
     * invalid. */
    void *(*begin)(struct request_queue *queue, struct decoder *in);
    bool (*step)(void *job, uint64_t budget); /* returns true if there is something to put */
    /* Appends parts; returns true if these were the last. */
    bool (*put)(void *job, struct response *reply);
    void (*free)(void *job);
    /* Called instead of free, if not NULL, for a job that was answered or canceled. */
    void (*leave)(struct request_queue *queue, void *job, bool answered);
    unsigned most; /* maximum number of simultaneous jobs of one viewer */
    bool picture; /* whether it is for the visible diagram, which has priority */
    bool overview; /* whether it is for the overview, which gets every other step of the rest */
    /* the response is as long as the run: it is put without steps, as fast as the viewer reads */
    bool stream;
};

#define Q(number, NAME, name) extern const struct query query_##name;
RUN_REQUESTS(Q)
#undef Q

#endif
