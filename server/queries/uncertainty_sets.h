/* Of sets of doubts, for each reason, which are alike: to who has only their numbers, the reasons
 * for which the order of two events is not known are those of which their sets are not alike. */
#ifndef SERVER_QUERIES_UNCERTAINTY_SETS_H
#define SERVER_QUERIES_UNCERTAINTY_SETS_H

#include "base/map.h"
#include "server/order/order.h"
#include "wire/causal_edges.h"

struct uncertainty_sets_sent {
    struct map known; /* set -> itself, for those that are told */
    struct map number; /* reason and how the order calls a kind of it -> 1 + its number */
    uint32_t count[UNTRACED_COUNT]; /* of kinds, by reason */
    size_t room;
};

/* Tells of a set, unless it is told already. */
void uncertainty_sets_encode(struct uncertainty_sets_sent *told, const struct order *order,
                             uint32_t set, struct causal_edges_info *to);
void uncertainty_sets_free(struct uncertainty_sets_sent *told); /* empties it */

#endif
