/* Synchronization points: whether the members of one and all their predecessors are there, and
 * their delivery, which appends them to the log or sets an inconsistent event aside. */
#ifndef SERVER_ORDER_DELIVERY_SYNC_POINT_H
#define SERVER_ORDER_DELIVERY_SYNC_POINT_H

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

/* Appends a point with members that are not pending.  partner_lost: a partner of its event is
 * missing. */
void sync_point_append(struct order *order, const struct sync_point *point, bool partner_lost);
/* Appends a ready point; its members are then not pending any more. */
void sync_point_deliver(struct order *order, const struct sync_point *point, bool partner_lost);

/* ---- the readiness check ---- */

enum readiness_state { READY, READY_ALONE, WAITING, DONE };
/* Finds the members of the point of a head, its only member so far, and whether all their
 * predecessors are delivered; else has it wait. */
enum readiness_state sync_point_ready(struct order *order, struct sync_point *point);
void sync_point_add(struct sync_point *point, struct pending *pending);

#endif
