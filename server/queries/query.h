/* What a question about a run is: one file here has a `const struct query question_NAME` for each
 * row of RUN_REQUESTS (wire/request.h).  It is answered at once, or it is a job that is worked on
 * in steps, so that a large one holds up nobody. */
#ifndef SERVER_QUERIES_QUERY_H
#define SERVER_QUERIES_QUERY_H

#include "server/run/run.h"
#include "wire/request.h"
#include "wire/limits.h"

struct request_queue;

struct query {
    /* Answers at once, once decoder_finish(in); fails `in` on nonsense, and then tells nothing.
     * NULL: it is a job: */
    void (*at_once)(const struct run *run, struct decoder *in, struct response *reply);
    /* A job, the desk's from then on; NULL, with `in` failed, on nonsense. */
    void *(*begin)(struct request_queue *desk, struct decoder *in);
    bool (*step)(void *job, uint64_t budget); /* true: there is something to put */
    bool (*put)(void *job, struct response *reply); /* appends parts; true: that was all */
    void (*free)(void *job);
    /* Instead of free, if it is not NULL: what to do with a job that was answered, or is not wanted
     * any more. */
    void (*leave)(struct request_queue *desk, void *job, bool answered);
    unsigned most; /* jobs at once of one viewer */
    bool picture; /* what people look at comes first */
    bool stream; /* as long as the run: it is put, without steps, as fast as the viewer reads */
};

#define Q(number, NAME, name) extern const struct query question_##name;
RUN_REQUESTS(Q)
#undef Q

#endif
