/* Hidden lines that collect what others come after. */
#ifndef SERVER_ORDER_DELIVERY_JOIN_NODES_H
#define SERVER_ORDER_DELIVERY_JOIN_NODES_H

#include "server/order/order_state.h"

/* The edges that the `after` set of a type asks for on a shared line.  Call
 * before the event is appended; fills edges, returns how many. */
size_t join_nodes_update(struct order *order, uint32_t line, uint32_t type, uint64_t *edges,
                         size_t room);

#endif
