/* Knots: threads that hold each other up and are held up by nobody else, who therefore hold up all
 * the rest.
 *
 * For each moment of each wait it is known who ran instead (wait_attribution.h, the overlap): from
 * who waited to who ran goes an edge that is as heavy as those moments are long.  Edges that are
 * less than a hundredth of all that their waiter waited are cut; a knot is a strongly connected
 * part (Tarjan 1972) without an edge out of it and with one into it or within it (after Zhou et
 * al., OSDI 2018).  Computed in steps. */
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
    uint32_t knot; /* from 1; 0: of none */
    int64_t waited_ns, held_ns; /* it waited; others waited as it ran */
};

/* Zero-initialised but for why and the range. */
struct wait_knots {
    const struct wait_attribution *why; /* not owned */
    int64_t from_ns;
    const int64_t *until_ns; /* by thread's index, its end; not after from_ns: it does not count */
    uint32_t until_count;
    size_t done; /* waits looked at */
    struct wait_edge *holds; /* by waiter, heaviest first, once they are tied */
    uint32_t hold_count;
    size_t hold_room;
    struct map of; /* waiter, runner -> 1 + index */
    struct knot_member *members; /* by their first */
    uint32_t member_count;
    size_t member_room;
    struct map member_of; /* line -> 1 + index */
    uint32_t count; /* of knots */
    int64_t waited_ns;
};

/* Goes on for about so many waits.  True: all that are known are in. */
bool wait_knots_step(struct wait_knots *knots, uint64_t budget);
void wait_knots_compute(struct wait_knots *knots); /* finds them, once all is in */
void wait_knots_free(struct wait_knots *knots); /* empties it, but for why and the range */

#endif
