/* Delivery: appends ready synchronization points to the log and sets inconsistent events aside. */
#ifndef SERVER_ORDER_DELIVERY_DELIVER_H
#define SERVER_ORDER_DELIVERY_DELIVER_H

#include "server/order/delivery/waiting_lines.h"
#include "server/order/order.h"

/* Returns an arrival as an event of the synchronization point that begins at `point`. */
static inline struct order_event event_of(const struct arrival *a, uint64_t point)
{
    return (struct order_event){.number = a->at.number,
                                .time_ns = a->time_ns,
                                .point = point,
                                .line = a->at.line,
                                .thread = a->thread,
                                .about = a->about,
                                .site = a->site,
                                .type = a->type,
                                .relation = (uint8_t)a->relation,
                                .sends = a->sends,
                                .doubt = a->doubt};
}

void sync_point_append(struct order *order, const struct sync_point *point, bool partner_lost);
void sync_point_deliver(struct order *order, const struct sync_point *point, bool partner_lost);
void sync_point_mark_inconsistent(struct order *order, struct pending *pending,
                                  struct event_id with, const char *why);

#endif
