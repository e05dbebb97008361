/* Knots (bottleneck groups, wPerf): threads that delay each other and no other threads delay, and
 * that thereby delay all the rest.
 *
 * The overlap (wait_attribution.h) says which thread ran at each moment of each wait: an edge leads
 * from the waiter to that thread, with the duration as its weight.  Edges below a hundredth of all
 * that the waiter waited are cut.  A knot is a strongly connected component (Tarjan 1972) without
 * an outgoing edge and with an edge into it or within it (after Zhou et al., OSDI 2018).  Works in
 * steps. */
#ifndef SERVER_ANALYSIS_WAIT_KNOTS_H
#define SERVER_ANALYSIS_WAIT_KNOTS_H

#include "server/analysis/wait_attribution.h"

struct wait_edge {
    uint32_t waiter, runner; /* lines */
    int64_t ns;
    bool cut;
};

struct knot_member {
    uint32_t thread; /* line */
    uint32_t knot; /* from 1; 0: in no knot */
    int64_t waited_ns, held_ns; /* time that it waited; time that others waited while it ran */
};

/* Zero-initialize it except `why` and the range. */
struct wait_knots {
    const struct wait_attribution *why; /* not owned */
    int64_t from_ns;
    /* by thread index: end of what counts; not after from_ns: the thread does not count */
    const int64_t *until_ns;
    uint32_t until_count;
    size_t done; /* waits processed */
    struct wait_edge *holds; /* by waiter, the heaviest first, after wait_knots_compute() */
    uint32_t hold_count;
    size_t hold_room;
    struct map of; /* waiter, runner -> 1 + index */
    struct knot_member *members; /* in the order of their first appearance */
    uint32_t member_count;
    size_t member_room;
    struct map member_of; /* line -> 1 + index */
    uint32_t count; /* number of knots */
    int64_t waited_ns;
};

/* Processes about `budget` waits.  Returns true when all known waits are processed. */
bool wait_knots_step(struct wait_knots *knots, uint64_t budget);
/* Finds the knots, after all waits are processed. */
void wait_knots_compute(struct wait_knots *knots);
/* Frees the memory and empties it, except `why` and the range. */
void wait_knots_free(struct wait_knots *knots);

#endif
