/* Concurrency levels of a run: when more than one thread ran.
 *
 * A thread does not run while it waits, nor from its release until it resumes.  Times are ns of the
 * run. */
#ifndef SERVER_TIMING_CONCURRENCY_LEVELS_H
#define SERVER_TIMING_CONCURRENCY_LEVELS_H

#include "server/timing/intervals.h"

/* A zero-initialized struct is empty: no thread runs. */
struct concurrency_levels {
    struct concurrency_level {
        int64_t at_ns;
        int64_t above_ns; /* accumulated time with more than one running thread up to at_ns */
        int running; /* number of running threads from then on */
    } *items; /* in the order of time */
    size_t count, room;
};

void concurrency_levels_make(struct concurrency_levels *levels, const struct intervals *all);
/* Builds the levels of other running times: levels_add() for each, in any order, then
 * levels_add_up() once. */
void levels_add(struct concurrency_levels *levels, int64_t from_ns, int64_t to_ns);
void levels_add_up(struct concurrency_levels *levels);
/* Returns how many threads run at a time. *near: as below. */
int levels_running(const struct concurrency_levels *levels, int64_t at_ns, size_t *near);
/* Returns for how long more than one thread ran in from_ns..to_ns. *near is the index that was
 * found last, initially 0. */
int64_t concurrency_levels_above(const struct concurrency_levels *levels, int64_t from_ns,
                                 int64_t to_ns, size_t *near);
/* Frees the memory; it is empty then. */
void concurrency_levels_free(struct concurrency_levels *levels);

#endif
