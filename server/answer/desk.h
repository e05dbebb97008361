/* The questions of one viewer that are not answered yet.  Those for pictures come first, the oldest
 * before the others; all others have a step each in turn. */
#ifndef SERVER_ANSWER_DESK_H
#define SERVER_ANSWER_DESK_H

#include "server/answer/question.h"

struct window_job;

/* Zero-initialised: nobody asks; run is set by whoever selects it. */
struct desk {
    const struct run *run;
    struct desk_item {
        uint32_t id;
        const struct question *question; /* private: of desk.c alone, */
        void *job; /*   which never looks into it */
    } items[LIMIT_ASKED]; /* by age */
    unsigned count;
    unsigned turn; /* the item whose step is next */
    struct window_job *kept; /* the last one answered: scrolling goes on from it */
};

/* What a viewer asks for, head and body; fails `in` on nonsense.  There is a run. */
void desk_ask(struct desk *desk, const struct asked *asked, struct in *in, struct out *out);
void desk_cancel(struct desk *desk, uint32_t id);
/* Drops all questions; with `out`, each with a refusal. */
void desk_clear(struct desk *desk, struct out *out);
/* Does anything wait for a step? */
bool desk_waits(const struct desk *desk);
/* A step of the question whose turn it is. */
void desk_step(struct desk *desk, struct out *out);
/* Is there a stream?  It goes on as the viewer reads: */
bool desk_streams(const struct desk *desk);
void desk_refill(struct desk *desk, struct out *out);

#endif
