/* Fast path for plain events, which most are.  A plain event names its partners and has at most
 * one, is on an exclusive line that has not ended, follows no lost number, and is not uncertain.
 * It is checked and delivered in one step; readiness_check.c and deliver.c handle all events. */
#ifndef SERVER_ORDER_DELIVERY_FAST_PATH_H
#define SERVER_ORDER_DELIVERY_FAST_PATH_H

#include "server/order/order_state.h"

/* Delivers a new arrival if it is plain and all its predecessors are delivered.  Returns false
 * if nothing was done. */
bool fast_path_insert(struct order *order, const struct arrival *a);
/* Delivers both ends of a sync pair, if they are plain and ready. */
bool fast_path_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b);
/* Delivers the head of a line and the plain events behind it, or makes it wait.  Returns false
 * if nothing was done. */
bool fast_path_check_head(struct order *order, uint32_t number, struct pending *head);

#endif
