/* Of sets of doubts, for each reason, which are alike: to who has only their numbers, the reasons for which the order of two
 * events is not known are those of which their sets are not alike. */
#ifndef SERVER_ANSWER_DOUBTS_H
#define SERVER_ANSWER_DOUBTS_H

#include "memory/map.h"
#include "server/order/order.h"
#include "wire/causes.h"

struct doubts_told {
    struct map known; /* set -> itself, for those that are told */
    struct map number; /* reason and how the order calls a kind of it -> 1 + its number */
    uint32_t count[UNSEEN_COUNT]; /* of kinds, by reason */
    size_t room;
};

/* Tells of a set, unless it is told already. */
void doubts_tell(struct doubts_told *told, const struct order *order, uint32_t set,
                 struct shown_causes *to);
void doubts_told_free(struct doubts_told *told); /* empties it */

#endif
