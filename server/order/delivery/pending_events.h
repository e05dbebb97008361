/* Pending events: arrivals that wait for an event that they follow. */
#ifndef SERVER_ORDER_DELIVERY_PENDING_EVENTS_H
#define SERVER_ORDER_DELIVERY_PENDING_EVENTS_H

#include "server/order/order_state.h"

void pending_put(struct order *order, const struct arrival *arrival, uint64_t lost);
bool pending_is(const struct order *order, struct event_id at);
/* Returns a pending event; NULL if there is none, or it is spilled. */
struct pending *pending_at(const struct order *order, struct event_id at);
/* Returns the next event of a line if it is pending, else NULL; loads spilled events. */
struct pending *pending_head(struct order *order, uint32_t line);
void pending_prefetch(const struct order *order); /* prefetches the heads of queued lines */
/* Prefetches what will be delivered after the head of a line. */
void pending_prefetch_behind(const struct order_line *line);
void pending_discard(struct order *order, struct pending *pending);
/* Returns the least pending number of a line, 0 if there is none. */
uint64_t pending_least(const struct order *order, uint32_t line);
uint32_t pending_batch(const struct order *order);
void pending_free_all(struct order *order);

#endif
