/* Order races: critical sections of a lock, and messages to a receiver that accepts any sender,
 * whose order depends on scheduling.
 *
 * - Order violation: two successive critical sections of one lock, by two threads and from
 *   different call sites, that only the lock orders and that never came in reversed order.
 * - Atomicity violation: two successive critical sections of one thread, from different call sites,
 *   and one of another thread before or after both that could come between them, while none from
 *   its call site ever did.
 * - Message race: a message that arrived later at the same call site of the same receiver and could
 *   have arrived first. */
#ifndef SERVER_ANALYSIS_ORDER_RACES_H
#define SERVER_ANALYSIS_ORDER_RACES_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct order_races {
    struct order_race_visit *visits;
    size_t visit_count, visit_room;
    struct map last_of_lock, last_of_thread; /* lock; lock and thread -> 1 + index */
    struct map asks; /* thread -> 1 + position of its last request */
    struct map within; /* thread -> 1 + the critical section that it began last */
    struct order_race_group *groups; /* by call sites */
    size_t group_count, group_room;
    struct map first_of, between_of, message_of;
    struct sync_op *received; /* the last one of each receiver and call site */
    size_t received_count, received_room;
    struct map received_of;
    bool cut;
};

void order_races_feed(struct order_races *flips, const struct sync_op *op);
void order_races_end(struct order_races *flips, struct findings *findings);
void order_races_free(struct order_races *flips);

#endif
