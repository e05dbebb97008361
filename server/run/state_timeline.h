/* State timelines of a run: the state intervals of each line.
 *
 * There may be several, each built from a source.  A timeline is built in one pass on first use, is
 * extended as the run grows, and is kept as a summary tree (server/timing/state_summary_tree.h),
 * with the run's lines as rows.  It is rebuilt when the clocks of several hosts are fitted again.
 *
 * The source that follows the events of threads is here (state tracker): a thread may occupy
 * several lines at once.  It is blocked if it is blocked in one of them, else it is in the line
 * that it entered last, else it is running.  For a line that belongs to no thread the tracker
 * counts the occupants.  Not thread-safe. */
#ifndef SERVER_RUN_STATE_TIMELINE_H
#define SERVER_RUN_STATE_TIMELINE_H

#include "server/run/run.h"
#include "server/timing/state_summary_tree.h"

enum timeline_source {
    /* states of threads by their events: codes are an enum band_state, the object of a state is the
     * line that the thread is in, or waits for */
    TIMELINE_ORDER,
    /* states of threads as they were measured: server/queries/thread_state_timeline.h */
    TIMELINE_LIVING,
    TIMELINE_SOURCES
};

/* The functions of a source. */
struct timeline_callbacks {
    void *(*begin)(const struct run *run);
    void (*free)(void *state);
    /* Returns a number that changes when the timeline must be rebuilt. */
    uint64_t (*made)(const struct run *run);
    /* Adds the events from position `known` on to the tree, about *budget of them, and subtracts
     * their number from *budget; returns the position reached. */
    uint64_t (*learn)(void *state, struct summary_tree *pyramid, uint64_t known, uint64_t *budget);
};

/* Sets the functions of a source that is implemented in another module; must be called before
 * the source is used. */
void timeline_set_source(enum timeline_source source, const struct timeline_callbacks *teller);

/* Processes about *budget new events; returns true once all are processed. */
bool timeline_build(const struct run *run, enum timeline_source source, uint64_t *budget);
/* Returns the number of positions processed. */
uint64_t timeline_known(const struct run *run, enum timeline_source source);
/* Returns the tree of a timeline, valid until the next timeline_build(), or NULL if nothing is
 * known. */
const struct summary_tree *timeline_tree(const struct run *run, enum timeline_source source);

#endif
