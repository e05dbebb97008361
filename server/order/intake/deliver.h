/* What is ready goes to the log; what contradicts is set aside. */
#ifndef SERVER_ORDER_INTAKE_DELIVER_H
#define SERVER_ORDER_INTAKE_DELIVER_H

#include "server/order/intake/wait.h"
#include "server/order/order.h"

/* What an arrival says of itself, as an event of the point that begins at `point`. */
static inline struct event event_of(const struct arrival *a, uint64_t point)
{
    return (struct event){.number = a->at.number,
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

void point_append(struct order *order, const struct point *point, bool partner_lost);
void point_deliver(struct order *order, const struct point *point, bool partner_lost);
void point_contradict(struct order *order, struct pending *pending, struct ref with,
                      const char *why);

#endif
