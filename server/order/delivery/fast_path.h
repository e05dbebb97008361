/* Plain events: most of them.  A plain event names its partners and has one at most, lies on an
 * exclusive line that goes on, nothing before it is lost, and nothing is doubtful about it.  It is
 * judged and delivered in one go; whatever is more to an event is the business of readiness_check.c
 * and deliver.c, which could do all of it. */
#ifndef SERVER_ORDER_DELIVERY_FAST_PATH_H
#define SERVER_ORDER_DELIVERY_FAST_PATH_H

#include "server/order/order_state.h"

/* Delivers what just came, if it is plain, and all is there that it follows.  False: nothing was
 * done. */
bool fast_path_insert(struct order *order, const struct arrival *a);
/* The same for both ends of a sync pair. */
bool fast_path_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b);
/* Delivers the head of a line, and what is plain behind it, or lets it wait.  False: nothing was
 * done. */
bool fast_path_check_head(struct order *order, uint32_t number, struct pending *head);

#endif
