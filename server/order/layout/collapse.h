/* Collapsed repeats: similar, uncontended critical sections of one thread in one object become one
 * mark.
 *
 * Such a section is an optional lock request, a sync pair that enters, at most two events
 * inside, and a sync pair that leaves; no event in it blocked, received, or has an annotation.
 * A sequence is collapsed as a whole on each side of the cut, so that the result does not depend
 * on how far the pass came. */
#ifndef SERVER_ORDER_LAYOUT_COLLAPSE_H
#define SERVER_ORDER_LAYOUT_COLLAPSE_H

#include "base/map.h"
#include "server/order/layout/column_assignment.h"

struct collapse_state {
    const struct order *order;
    const struct layout_params *placing;
    const uint64_t *cut;
    struct map marks; /* position -> 1: hidden by a mark; N: a mark of N critical sections */
    struct map ends;  /* position of a mark -> last position it represents */
};

/* Checks whether the event at a position begins (right of the cut) or ends (left of it) a
 * sequence. */
void collapse_scan(struct collapse_state *folds, uint64_t position, bool left);
uint32_t collapse_of(const struct collapse_state *folds, uint64_t position);
uint64_t collapse_end(const struct collapse_state *folds, uint64_t position);
void collapse_free(struct collapse_state *folds);

#endif
