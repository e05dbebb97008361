/* Who is in a line, and doing what. */
#ifndef SERVER_ORDER_DELIVERY_OCCUPANCY_H
#define SERVER_ORDER_DELIVERY_OCCUPANCY_H

#include "server/order/order_state.h"

/* Moves the event's thread and fills in event->in */
void occupancy_apply(struct order *order, struct order_event *event);

#endif
