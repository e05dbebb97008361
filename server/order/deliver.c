/* Delivering: a point goes to the log, or the event that contradicts is set aside. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

/* What an arrival says of itself, in the log. */
static struct event *append(struct order *order, const struct arrival *a)
{
    struct event *event = log_append(order, a->at.line, a->at.number);
    event->time_ns = a->time_ns;
    event->thread = a->thread;
    event->about = a->about;
    event->site = a->site;
    event->type = a->type;
    event->relation = (uint8_t)a->relation;
    return event;
}

static void deliver_one(struct order *order, const struct pending *pending, uint64_t point,
                        const uint64_t *collected, size_t collected_count)
{
    const struct arrival *a = &pending->arrival;
    struct line *line = order_get(order, a->at.line);
    bool first = line->count == 0;
    struct event *event = append(order, a);
    event->point = point;
    for (size_t i = 0; a->relation == RELATION_RECEIVE && i < pending->arrival.partner_count; i++) {
        uint64_t send = order_position(order, pending->partners[i]);
        if (send == NO_POSITION)
            event->partner_lost |= !order_is_forgotten(order, pending->partners[i]);
        else if (order_event(order, send)->state == EVENT_ORDERED)
            log_receive(order, event, send);
    }
    for (size_t i = 0; i < collected_count; i++)
        log_edge(order, event, collected[i]);
    struct ref opener = first ? line->opened_by : (struct ref){0, 0};
    for (size_t i = 0; i < 2; i++)
        if (a->after[i].line && !(opener.line && ref_equal(a->after[i], opener)))
            log_edge(order, event, log_standing(order, a->after[i]));
    if (opener.line) {
        uint32_t before = event->edge_count;
        log_edge(order, event, log_standing(order, opener));
        event->opened = event->edge_count > before;
    }
    if (a->closes)
        line->closed = true;
    if (a->thread && order_get(order, a->thread))
        order_get(order, a->thread)->acted = order->count;
    presence_apply(order, event);
}

void pending_forget(struct order *order, struct pending *pending)
{
    struct ref at = pending->arrival.at;
    map_take(&order->pending, at.line, at.number);
    order_get(order, at.line)->pending--;
    order->figures.pending--;
    pending_free(pending);
}

void point_append(struct order *order, const struct point *point, bool partner_lost)
{
    uint64_t collected[16];
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < point->count && i < 2; i++) /* no group lies on shared lines only */
        counts[i] = log_collect(order, point->members[i]->arrival.at.line,
                                point->members[i]->arrival.type, collected + 8 * i, 8);
    uint64_t first = order->count;
    for (size_t i = 0; i < point->count; i++) {
        deliver_one(order, point->members[i], first, collected + 8 * (i & 1),
                    i < 2 ? counts[i] : 0);
        if (partner_lost && !order_is_forgotten(order, point->members[i]->partners[0]))
            order->chunks[first / CHUNK_EVENTS][first % CHUNK_EVENTS].partner_lost = true;
    }
}

void point_deliver(struct order *order, const struct point *point, bool partner_lost)
{
    point_append(order, point, partner_lost);
    for (size_t i = 0; i < point->count; i++) {
        uint32_t line = point->members[i]->arrival.at.line;
        pending_forget(order, point->members[i]);
        order_get(order, line)->wait = (struct ref){0, 0};
        line_wake(order, line);
        line_enqueue(order, line);
    }
}

/* Sets the head of a line aside. */
void point_contradict(struct order *order, struct pending *pending, struct ref with,
                       const char *why)
{
    const struct arrival *a = &pending->arrival;
    struct pending *partner =
        a->relation == RELATION_SYNC && !a->keyed ? pending_at(order, pending->partners[0]) : NULL;
    if (partner && !partner->lost && partner->arrival.relation == RELATION_SYNC &&
        !partner->arrival.keyed && ref_equal(partner->partners[0], a->at))
        partner->condemned = true;
    if (!pending->condemned)
        order_report(order, a->at, with, why);
    uint32_t line = a->at.line;
    struct event *event = append(order, a);
    event->state = EVENT_CONTRADICTORY;
    presence_apply(order, event);
    pending_forget(order, pending);
    order_get(order, line)->wait = (struct ref){0, 0};
    line_wake(order, line);
    line_enqueue(order, line);
}
