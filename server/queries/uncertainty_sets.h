/* Encoding of uncertainty sets: numbers that say, for each reason, which sets are alike.  A viewer
 * that has only the numbers can tell for which reasons the order of two events is unknown: those in
 * which their sets differ. */
#ifndef SERVER_QUERIES_UNCERTAINTY_SETS_H
#define SERVER_QUERIES_UNCERTAINTY_SETS_H

#include "base/map.h"
#include "server/order/order.h"
#include "wire/causal_edges.h"

struct uncertainty_sets_sent {
    struct map known; /* set -> any pointer, for each set already sent */
    struct map number; /* reason and the order's number of a kind of it -> 1 + its number here */
    uint32_t count[UNTRACED_COUNT]; /* number of kinds, by reason */
    size_t room;
};

/* Sends a set unless it was sent already. */
void uncertainty_sets_encode(struct uncertainty_sets_sent *sent, const struct order *order,
                             uint32_t set, struct causal_edges_info *to);
/* Frees the memory and empties the struct. */
void uncertainty_sets_free(struct uncertainty_sets_sent *sent);

#endif
