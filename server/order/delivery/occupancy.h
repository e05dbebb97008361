/* Occupancy: which threads are in a line, and in which state. */
#ifndef SERVER_ORDER_DELIVERY_OCCUPANCY_H
#define SERVER_ORDER_DELIVERY_OCCUPANCY_H

#include "server/order/order_state.h"

/* Moves the event's thread and sets event->in. */
void occupancy_apply(struct order *order, struct order_event *event);
void occupancy_free_effects(struct effect_table *effects);

#endif
