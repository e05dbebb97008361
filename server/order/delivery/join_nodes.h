/* Hidden lines that collect the events of a type, for the events that must come after all of
 * them. */
#ifndef SERVER_ORDER_DELIVERY_JOIN_NODES_H
#define SERVER_ORDER_DELIVERY_JOIN_NODES_H

#include "server/order/order_state.h"

/* Sets edges to those that the `after` set of a type requires on a shared line, and returns
 * their number.  Must be called before the event is appended. */
size_t join_nodes_update(struct order *order, uint32_t line, uint32_t type, uint64_t *edges,
                         size_t room);

#endif
