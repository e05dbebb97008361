/* The course of a run: in which state each line was from when to when.
 *
 * There may be several, each told by a source.  A course is found in one pass, when it is first
 * asked for, goes on from there as the run grows, and is kept as a pyramid
 * (server/timing/state_summary_tree.h), whose rows are the run's lines.  Where the clocks of
 * several hosts are fitted anew, it begins again. */
#ifndef SERVER_RUN_STATE_TIMELINE_H
#define SERVER_RUN_STATE_TIMELINE_H

#include "server/timing/state_summary_tree.h"
#include "server/run/run.h"

enum timeline_source {
    /* what threads do as the order tells it: state_tracker.h, codes are an enum band_state */
    TIMELINE_ORDER,
    /* states of threads as they were measured: server/queries/thread_state_timeline.h */
    TIMELINE_LIVING,
    TIMELINE_SOURCES
};

/* What a source has to know. */
struct timeline_callbacks {
    void *(*begin)(const struct run *run);
    void (*free)(void *state);
    /* A number that changes where all has to be told anew. */
    uint64_t (*made)(const struct run *run);
    /* Tells the pyramid of what happened at the positions from `known` on, for about *budget
     * events, and takes them off it; returns how far it is known then. */
    uint64_t (*learn)(void *state, struct summary_tree *pyramid, uint64_t known, uint64_t *budget);
};

/* Who tells a source that this room does not know itself; before the source is asked for. */
void timeline_set_source(enum timeline_source source, const struct timeline_callbacks *teller);

/* Looks at what is new, about `budget` events of it; true once all is known. */
bool timeline_build(const struct run *run, enum timeline_source source, uint64_t *budget);
uint64_t timeline_known(const struct run *run, enum timeline_source source); /* so many positions */
/* NULL: nothing is known.  Until the next timeline_build. */
const struct summary_tree *timeline_tree(const struct run *run, enum timeline_source source);

#endif
