/* Pending events: arrivals that wait for an event that they follow. */
#ifndef SERVER_ORDER_DELIVERY_PENDING_EVENTS_H
#define SERVER_ORDER_DELIVERY_PENDING_EVENTS_H

#include "server/order/order_state.h"

void pending_put(struct order *order, const struct arrival *arrival, uint64_t lost);
bool pending_is(const struct order *order, struct event_id at);
struct pending *pending_at(const struct order *order,
                           struct event_id at); /* NULL if spilled, too */
struct pending *pending_head(struct order *order, uint32_t line);     /* next to be delivered */
void pending_prefetch(const struct order *order); /* fetches the heads that are to be looked at */
void pending_prefetch_behind(
    const struct order_line *line); /* and what will be delivered after the head */
void pending_discard(struct order *order, struct pending *pending);
uint64_t pending_least(const struct order *order, uint32_t line); /* least number, 0 none */
uint32_t pending_batch(const struct order *order);
void pending_free_all(struct order *order);

#endif
