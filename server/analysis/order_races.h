/* Visits of a lock, and messages to who takes any, whose order luck decided.
 *
 * First: two visits of one lock by two threads, from different places, one right after the other,
 * which nothing but the lock orders; and the other way round they never came.  Between: two visits
 * of one thread, one right after the other, from different places, and a visit of another thread
 * before or behind both that could come between; none from there ever did.  Message: one that came
 * later to the same place of the same receiver, and could have come first. */
#ifndef SERVER_ANALYSIS_ORDER_RACES_H
#define SERVER_ANALYSIS_ORDER_RACES_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct order_races {
    struct order_race_visit *visits;
    size_t visit_count, visit_room;
    struct map last_of_lock, last_of_thread; /* lock; lock and thread -> 1 + index */
    struct map asks; /* thread -> 1 + position by which it asked last */
    struct map within; /* thread -> 1 + the visit that it began last */
    struct order_race_group *groups; /* by places */
    size_t group_count, group_room;
    struct map first_of, between_of, message_of;
    struct sync_op *received; /* the last of each receiver and place */
    size_t received_count, received_room;
    struct map received_of;
    bool cut;
};

void order_races_feed(struct order_races *flips, const struct sync_op *deed);
void order_races_end(struct order_races *flips, struct findings *findings);
void order_races_free(struct order_races *flips);

#endif
