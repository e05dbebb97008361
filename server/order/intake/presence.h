/* Who is in a line, and doing what. */
#ifndef SERVER_ORDER_INTAKE_PRESENCE_H
#define SERVER_ORDER_INTAKE_PRESENCE_H

#include "server/order/state.h"

/* Moves the event's thread and fills in event->in */
void occupancy_apply(struct order *order, struct order_event *event);

#endif
