/* Delivery: appends a synchronization point to the log, or sets an inconsistent event aside. */
#include "server/order/delivery/deliver.h"

#include "base/alloc.h"
#include "server/order/delivery/join_nodes.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/byte_stream_match.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/late_receives.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

struct delivered_edges { /* edges of one event */
    uint64_t few[32], *items;
    uint32_t count, sends;
};

static void add_edge(struct delivered_edges *in, uint64_t from)
{
    if (from != NO_POSITION)
        in->items[in->count++] = from;
}

/* If a line has ended, declares an event of it that another event names and that was not received
 * lost, with the numbers before it. Returns whether it did. */
static bool close_end(struct order *order, struct event_id named)
{
    const struct order_line *line = line_get(order, named.line);
    bool closes = line && line->gone && named.number > line->delivered &&
                  (!line->pending || pending_least(order, named.line) > named.number);
    if (closes) {
        log_gap_found(order, named.line, named.number - line->delivered);
        line_wake(order, named.line);
        line_enqueue(order, named.line);
    }
    return closes;
}

static void add_after(struct order *order, struct event_id from, struct delivered_edges *in,
                      bool *lost)
{
    bool missing = false;
    uint64_t standing = log_relation_state(order, from, &missing);
    if (missing && close_end(order, from))
        standing = log_relation_state(order, from, &missing);
    *lost |= missing;
    add_edge(in, standing);
}

static void add_sends(struct order *order, const struct pending *pending, struct order_event *event,
                      struct delivered_edges *in)
{
    for (uint32_t i = 0; i < pending->arrival.partner_count; i++) {
        uint64_t send = order_position(order, pending->arrival.partners[i]);
        if (send == NO_POSITION) {
            close_end(order, pending->arrival.partners[i]);
            event->partner_lost |= !order_is_discarded(order, pending->arrival.partners[i]);
        } else if (!(log_get(order, send, FIELD_FLAGS) & FIELD_INCONSISTENT))
            add_edge(in, send);
    }
    in->sends = in->count;
}

static void deliver_one(struct order *order, const struct pending *pending, uint64_t point,
                        const uint64_t *collected, size_t collected_count, bool partner_lost,
                        uint8_t doubt)
{
    const struct arrival *a = &pending->arrival;
    struct order_line *line = line_get(order, a->at.line);
    struct order_event event = event_of(a, point);
    struct delivered_edges in;
    in.items = in.few;
    in.count = in.sends = 0;
    size_t need = a->partner_count + collected_count + 3;
    if (need > sizeof in.few / sizeof *in.few)
        in.items = xmalloc(need * sizeof *in.items);
    event.partner_lost = partner_lost || ((doubt || a->doubt) && a->relation == RELATION_RECEIVE &&
                                          !a->partner_count);
    bool lost = false;
    if (a->relation == RELATION_RECEIVE)
        add_sends(order, pending, &event, &in);
    for (size_t i = 0; i < collected_count; i++)
        add_edge(&in, collected[i]);
    struct event_id opener =
        line->positions.count == 0 ? line_opened_by(line) : (struct event_id){0, 0};
    for (size_t i = 0; i < 2; i++)
        if (a->after[i].line && !(opener.line && event_id_equal(a->after[i], opener)))
            add_after(order, a->after[i], &in, &lost);
    if (opener.line) {
        uint32_t before = in.count;
        add_after(order, opener, &in, &lost);
        event.opened = in.count > before;
    }
    event.edge_count = in.count;
    event.send_count = in.sends;
    lost |= event.partner_lost || (line->after_gap && !line->shared);
    if (!event.doubt)
        event.doubt = doubt ? doubt : lost ? UNTRACED_LOST : UNTRACED_NONE;
    occupancy_apply(order, &event);
    uint64_t position = order->log.count;
    log_append(order, &event, in.items, NULL);
    for (uint32_t i = 0; i < in.sends; i++)
        log_receive(order, in.items[i], position, in.sends == 1);
    line = line_get(order, a->at.line);
    line_touch(order, a->at.line);
    if (a->closes || (line->closed == LINE_CLOSING && a->at.number >= line->more->end))
        line->closed = LINE_CLOSED;
    if (a->thread && line_get(order, a->thread)) {
        line_touch(order, a->thread);
        line_get(order, a->thread)->acted = order->log.count;
    }
    if (in.items != in.few)
        free(in.items);
}

void sync_point_append(struct order *order, const struct sync_point *point, bool partner_lost)
{
    uint64_t collected[16];
    size_t counts[2] = {0, 0};
    for (size_t i = 0; order->lines.has_shared && i < point->count && i < 2;
         i++) /* no group lies on shared lines only */
        counts[i] = join_nodes_update(order, point->members[i]->arrival.at.line,
                                      point->members[i]->arrival.type, collected + 8 * i, 8);
    uint64_t first = order->log.count;
    for (size_t i = 0; i < point->count; i++)
        deliver_one(order, point->members[i], first, collected + 8 * (i & 1), i < 2 ? counts[i] : 0,
                    i == 0 && partner_lost &&
                        !order_is_discarded(order, point->members[i]->arrival.partners[0]),
                    point->doubt);
}

/* Counts a delivered event in its rendezvous or byte stream. */
static void deliver_note_rendezvous(struct order *order, const struct pending *member,
                                    uint8_t doubt)
{
    const struct arrival *a = &member->arrival;
    bool receives = a->relation == RELATION_RECEIVE;
    struct rendezvous *meeting = doubt && !receives ? rendezvous_of(&order->rendezvous, a) : NULL;
    if (meeting)
        meeting->released = true;
    if (a->stream && receives)
        byte_stream_received(order, a);
    else if (!a->stream && (!receives || a->partners == &member->one))
        rendezvous_done(order, a, a->key[1]);
    for (size_t i = 0;
         !a->stream && receives && a->partners != &member->one && i < a->partner_count; i++)
        rendezvous_done(order, a, a->partners[a->partner_count + i].number); /* its keys */
}

void sync_point_deliver(struct order *order, const struct sync_point *point, bool partner_lost)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i]->arrival.keyed ||
            point->members[i]->arrival.relation == RELATION_GROUP)
            rendezvous_leave_all(order, point->members[i]);
    sync_point_append(order, point, partner_lost);
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i]->arrival.keyed)
            deliver_note_rendezvous(order, point->members[i], point->doubt);
    for (size_t i = 0; i < point->count; i++) {
        uint32_t line = point->members[i]->arrival.at.line;
        pending_discard(order, point->members[i]);
        line_stop_waiting(line_get(order, line));
        line_wake(order, line);
        line_enqueue(order, line);
    }
}

/* Sets the head of a line aside. */
void sync_point_mark_inconsistent(struct order *order, struct pending *pending,
                                  struct event_id with, const char *why)
{
    const struct arrival *a = &pending->arrival;
    struct pending *partner =
        a->relation == RELATION_SYNC && !a->keyed ? pending_at(order, a->partners[0]) : NULL;
    if (partner && !pending_lost(partner) && partner->arrival.relation == RELATION_SYNC &&
        !partner->arrival.keyed && event_id_equal(partner->arrival.partners[0], a->at))
        partner->arrival.waits |= WAITS_CONDEMNED;
    if (!(a->waits & WAITS_CONDEMNED))
        order_report(order, a->at, with, why);
    rendezvous_leave_all(order, pending);
    uint32_t line = a->at.line;
    struct order_event event = event_of(a, order->log.count);
    event.state = EVENT_CONTRADICTORY;
    occupancy_apply(order, &event);
    log_append(order, &event, NULL, NULL);
    pending_discard(order, pending);
    line_stop_waiting(line_get(order, line));
    line_wake(order, line);
    line_enqueue(order, line);
}
