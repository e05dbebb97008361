/* Folding: stretches of like, uncontended visits of one object by one thread become one mark.
 *
 * A visit: perhaps a petition, a pair in, at most two events inside at the time of the pair out, a
 * pair out; nothing in it blocked, received, or bears a text.  A stretch is folded as far as it
 * lies on one side of the cut, whole, so that it does not depend on how far was looked. */
#ifndef SERVER_ORDER_LAYOUT_COLLAPSE_H
#define SERVER_ORDER_LAYOUT_COLLAPSE_H

#include "base/map.h"
#include "server/order/layout/column_assignment.h"

struct collapse_state {
    const struct order *order;
    const struct layout_params *placing;
    const uint64_t *cut;
    struct map marks; /* position -> 1 hidden in a fold, N its mark */
    struct map ends;  /* position of a mark -> last position it stands for */
};

/* Looks whether the event at a position begins (right of the cut) or ends (left of it) a
 * stretch. */
void collapse_scan(struct collapse_state *folds, uint64_t position, bool left);
uint32_t collapse_of(const struct collapse_state *folds, uint64_t position);
uint64_t collapse_end(const struct collapse_state *folds, uint64_t position);
void collapse_free(struct collapse_state *folds);

#endif
