/* The course of a run: in which state each line was from when to when.
 *
 * There may be several, each told by a source.  A course is found in one pass, when it is first asked for, goes on from there
 * as the run grows, and is kept as a pyramid (server/measure/pyramid.h), whose rows are the run's lines.  Where the
 * clocks of several hosts are fitted anew, it begins again. */
#ifndef SERVER_RUN_COURSE_H
#define SERVER_RUN_COURSE_H

#include "server/measure/pyramid.h"
#include "server/run/run.h"

enum course_source {
    COURSE_ORDER, /* what threads do as the order tells it: doing.h, codes are an enum strip_state */
    COURSE_LIVING, /* states of threads as they were measured: server/answer/living.h */
    COURSE_SOURCES
};

/* What a source has to know. */
struct course_teller {
    void *(*begin)(const struct run *run);
    void (*free)(void *state);
    /* A number that changes where all has to be told anew. */
    uint64_t (*made)(const struct run *run);
    /* Tells the pyramid of what happened at the positions from `known` on, for about *budget events, and takes them off
     * it; returns how far it is known then. */
    uint64_t (*learn)(void *state, struct pyramid *pyramid, uint64_t known, uint64_t *budget);
};

/* Who tells a source that this room does not know itself; before the source is asked for. */
void course_told_by(enum course_source source, const struct course_teller *teller);

/* Looks at what is new, about `budget` events of it; true once all is known. */
bool course_learn(const struct run *run, enum course_source source, uint64_t *budget);
uint64_t course_known(const struct run *run, enum course_source source); /* so many positions */
/* NULL: nothing is known.  Until the next course_learn. */
const struct pyramid *course_pyramid(const struct run *run, enum course_source source);

#endif
