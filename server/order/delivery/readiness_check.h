/* Readiness check: finds the members of a head's synchronization point and whether all their
 * predecessors are delivered. */
#ifndef SERVER_ORDER_DELIVERY_READINESS_CHECK_H
#define SERVER_ORDER_DELIVERY_READINESS_CHECK_H

#include "server/order/delivery/waiting_lines.h"

enum readiness_state { READY, READY_ALONE, WAITING, DONE };
enum readiness_state sync_point_ready(struct order *order, struct sync_point *point);
void sync_point_add(struct sync_point *point, struct pending *pending);

#endif
