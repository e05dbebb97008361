#include "server/order/delivery/sync_point.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/event_log.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- hidden lines ----
 *
 * On a shared line, an event comes after every earlier one of the types in its type's `after` set.
 * A hidden line collects those, so that the edges stay linear in number. */

static struct collector *collector_for(struct order *order, uint32_t number_of_line, uint32_t type)
{
    struct order_line *line = line_get(order, number_of_line);
    for (size_t i = 0; i < line->more->collector_count; i++)
        if (line->more->collectors[i].type == type)
            return &line->more->collectors[i];
    struct line_more *more = line_more(line);
    more->collectors = array_reserve(more->collectors, &more->collector_room,
                                     more->collector_count + 1, sizeof *more->collectors);
    struct collector *collector = &more->collectors[more->collector_count++];
    *collector = (struct collector){.type = type};
    return collector;
}

struct new_collected {
    uint64_t *positions;
    size_t count, room;
    int64_t time_ns;
};

/* Finds the events of the type that were not collected yet. */
static struct new_collected find_new(struct order *order, uint32_t number_of_line,
                                     struct collector *collector)
{
    const struct order_line *line = line_get(order, number_of_line);
    struct new_collected found = {.time_ns = INT64_MIN};
    if (collector->ordinal < line->base)
        collector->ordinal = line->base;
    for (; collector->ordinal < line->positions.count; collector->ordinal++) {
        uint64_t position = order_line_at(order, number_of_line, collector->ordinal);
        if (position == NO_POSITION || log_get(order, position, FIELD_TYPE) != collector->type ||
            log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
            continue;
        int64_t time = (int64_t)(log_get(order, position, FIELD_TIME) - FIELD_TIME_BIAS);
        found.time_ns = time > found.time_ns ? time : found.time_ns;
        found.positions =
            array_reserve(found.positions, &found.room, found.count + 1, sizeof *found.positions);
        found.positions[found.count++] = position;
    }
    return found;
}

/* Were numbers lost on the line since the collector was updated? Some of them may have been of its
 * type. */
static bool has_new_gap(const struct order_line *line, const struct collector *collector)
{
    if (!line->more->gap_count)
        return false;
    uint64_t last = line->more->gaps[line->more->gap_count - 1].ordinal;
    return last > collector->ordinal || (last == collector->ordinal && !collector->hidden);
}

/* Updates one collector. Returns the position of its newest hidden event, or NO_POSITION. */
static uint64_t join_nodes_update_collector(struct order *order, uint32_t number_of_line,
                                            uint32_t type)
{
    line_touch(order, number_of_line);
    struct collector *collector = collector_for(order, number_of_line, type);
    bool gap = has_new_gap(line_get(order, number_of_line), collector);
    struct new_collected found = find_new(order, number_of_line, collector);
    if (found.count || gap) {
        uint32_t kind = line_get(order, number_of_line)->kind;
        if (!collector->hidden)
            line_new_hidden(order, kind, &collector->hidden);
        struct order_event event = {.line = collector->hidden,
                                    .number = line_get(order, collector->hidden)->delivered + 1,
                                    .time_ns = found.count ? found.time_ns : 0,
                                    .point = order->log.count,
                                    .type = type,
                                    .relation = RELATION_ORDER,
                                    .edge_count = (uint32_t)found.count,
                                    .doubt = gap ? UNTRACED_LOST : UNTRACED_NONE};
        log_append(order, &event, found.positions, NULL);
        free(found.positions);
    }
    const struct order_line *hidden = collector->hidden ? line_get(order, collector->hidden) : NULL;
    return hidden && line_has_kept(order, hidden) ? hidden->last : NO_POSITION;
}

/* Sets edges to those that the `after` set of a type requires on a shared line, and returns
 * their number.  Must be called before the event is appended. */
static size_t join_nodes_update(struct order *order, uint32_t line, uint32_t type, uint64_t *edges,
                                size_t room)
{
    size_t count = 0;
    if (type >= order->after.room || !line_get(order, line)->shared)
        return 0;
    for (size_t i = 0; i < order->after.sets[type].count && count < room; i++) {
        uint64_t from = join_nodes_update_collector(order, line, order->after.sets[type].items[i]);
        if (from != NO_POSITION)
            edges[count++] = from;
    }
    return count;
}

/* ---- delivery ---- */

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

static void sync_point_note_spread(struct event_log *log, const struct sync_point *point)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < point->count; i++) {
        int64_t time_ns = point->members[i]->arrival.time_ns;
        least = time_ns < least ? time_ns : least;
        most = time_ns > most ? time_ns : most;
    }
    uint64_t spread_ns = point->count > 1 ? (uint64_t)most - (uint64_t)least : 0;
    log->point_spread_ns = spread_ns > log->point_spread_ns ? spread_ns : log->point_spread_ns;
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
    sync_point_note_spread(&order->log, point);
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
static void sync_point_mark_inconsistent(struct order *order, struct pending *pending,
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

/* ---- the readiness check ---- */

void sync_point_add(struct sync_point *point, struct pending *pending)
{
    point->members =
        array_reserve(point->members, &point->room, point->count + 1, sizeof *point->members);
    point->members[point->count++] = pending;
}

static bool never_comes(const struct order *order, struct event_id ref)
{
    const struct order_line *line = line_get(order, ref.line);
    return line->gone && line->delivered < ref.number && !pending_is(order, ref);
}

static enum readiness_state wait_or_contradict(struct order *order, const struct sync_point *point,
                                               struct event_id need, const char *why)
{
    if (sync_point_wait(order, point, need))
        return WAITING;
    sync_point_mark_inconsistent(order, point->members[0], need, why);
    return DONE;
}

static const char *readiness_conflict_reason(const struct order *order, struct event_id partner,
                                             struct event_id self)
{
    uint64_t position = order_position(order, partner);
    const struct pending *p = pending_at(order, partner);
    unsigned relation = position != NO_POSITION ? log_relation(order, position)
                        : p                     ? (unsigned)p->arrival.relation
                                                : RELATION_NONE;
    (void)self;
    if (relation == RELATION_SYNC)
        return "the partner is paired with another event";
    return "the partner does not refer back";
}

/* Once the run has ended, releases an event that waits by a key for its partner: what the partner
 * did is unknown. */
static bool readiness_is_released(const struct order *order, struct sync_point *point)
{
    if (order->work.finishing)
        point->doubt = order->figures.lost ? UNTRACED_LOST : UNTRACED_THREAD;
    return order->work.finishing;
}

/* Joins the partner of a SYNC head: it must be a head that names this one. */
static enum readiness_state join_partner(struct order *order, struct sync_point *point,
                                         struct event_id partner)
{
    struct pending *head = point->members[0];
    struct order_line *line = line_get(order, partner.line);
    if (!line || partner.number == 0 || partner.line == head->arrival.at.line) {
        sync_point_mark_inconsistent(order, head, partner, "is paired with an incompatible event");
        return DONE;
    }
    if (line->delivered >= partner.number) {
        if (order_position(order, partner) == NO_POSITION)
            return READY_ALONE; /* lost */
        sync_point_mark_inconsistent(order, head, partner,
                                     readiness_conflict_reason(order, partner, head->arrival.at));
        return DONE;
    }
    struct pending *other = pending_at(order, partner);
    if (!other) {
        if (never_comes(order, partner))
            return READY_ALONE;
        return wait_or_contradict(order, point, partner, "creates a happened-before cycle");
    }
    if (!pending_lost(other) && (other->arrival.relation != RELATION_SYNC || other->arrival.keyed ||
                                 !event_id_equal(other->arrival.partners[0], head->arrival.at))) {
        sync_point_mark_inconsistent(order, head, partner,
                                     readiness_conflict_reason(order, partner, head->arrival.at));
        return DONE;
    }
    if (pending_lost(other) || line->delivered + 1 != partner.number)
        return wait_or_contradict(order, point, partner, "creates a happened-before cycle");
    sync_point_add(point, other);
    return READY;
}

/* Joins the members of a keyed head: all events with its key must be heads. */
static enum readiness_state readiness_join_rendezvous(struct order *order, struct sync_point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    struct rendezvous *meeting = rendezvous_of(&order->rendezvous, a);
    size_t size = a->relation == RELATION_GROUP ? a->group_size : 2;
    if (!meeting) { /* completed so long ago that its record was removed */
        sync_point_mark_inconsistent(order, head, (struct event_id){0, 0},
                                     "joins a completed group");
        return DONE;
    }
    if (meeting->released) {
        point->doubt = UNTRACED_LOST;
        return READY;
    }
    if (meeting->count < size && readiness_is_released(order, point)) {
        size = meeting->count;
    } else if (meeting->count < size) {
        struct order_line *line = line_get(order, a->at.line);
        if (line->more->wait.line == 0) {
            meeting->waiting = array_reserve(meeting->waiting, &meeting->waiting_room,
                                             meeting->waiting_count + 1, sizeof *meeting->waiting);
            meeting->waiting[meeting->waiting_count++] = a->at.line;
        }
        return WAITING;
    }
    if (meeting->done) {
        sync_point_mark_inconsistent(order, head, meeting->members[0], "joins a completed group");
        return DONE;
    }
    size_t rank = 0;
    while (rank < meeting->count && !event_id_equal(meeting->members[rank], a->at))
        rank++;
    if (rank >= size) {
        sync_point_mark_inconsistent(order, head, meeting->members[0], "joins a completed group");
        return DONE;
    }
    for (size_t i = 0; i < size; i++) {
        struct event_id ref = meeting->members[i];
        if (event_id_equal(ref, a->at))
            continue;
        struct pending *other = pending_at(order, ref);
        if (sync_point_has(point, ref.line) || !other || other->arrival.relation != a->relation ||
            (a->relation == RELATION_GROUP && other->arrival.group_size != a->group_size)) {
            sync_point_mark_inconsistent(order, head, ref, "key matches an incompatible event");
            return DONE;
        }
        if (line_get(order, ref.line)->delivered + 1 != ref.number)
            return wait_or_contradict(order, point, ref, "creates a happened-before cycle");
        sync_point_add(point, other);
    }
    return READY;
}

/* Returns the send among the events with a key; line 0: it has not arrived yet. */
static struct event_id send_by(const struct order *order, const struct arrival *a, uint64_t second)
{
    const struct rendezvous *meeting = map_get(&order->rendezvous.by_key, a->key[0], second);
    for (size_t i = 0; meeting && i < meeting->count; i++) {
        struct event_id at = meeting->members[i];
        uint64_t position = order_position(order, at);
        const struct pending *p = pending_at(order, at);
        if ((p && (p->arrival.relation == RELATION_SEND || p->arrival.sends) &&
             !event_id_equal(at, a->at)) ||
            (position != NO_POSITION && log_sends(order, position)))
            return at;
    }
    return (struct event_id){0, 0};
}

/* Finds the send of a keyed RECEIVE, or has it wait until the send arrives. */
static enum readiness_state find_send(struct order *order, struct sync_point *point)
{
    struct pending *head = point->members[0];
    struct arrival *a = &head->arrival;
    struct event_id send = send_by(order, a, a->key[1]);
    if (!send.line)
        return readiness_is_released(order, point) ? READY : WAITING;
    head->one = send;
    a->partners = &head->one;
    a->partner_count = 1;
    return READY;
}

/* Stands for a send that never arrived. */
static const struct event_id readiness_no_event = {UINT32_MAX, 1};

/* Finds all sends of a RECEIVE with several keys; `partners` then has the sends, followed by the
 * keys. */
static enum readiness_state find_sends(struct order *order, struct sync_point *point)
{
    struct pending *head = point->members[0];
    struct arrival *a = &head->arrival;
    for (uint32_t i = 0; i < a->partner_count; i++)
        if (!send_by(order, a, a->partners[i].number).line && !readiness_is_released(order, point))
            return WAITING;
    size_t n = a->partner_count;
    struct event_id *partners = xmalloc(2 * n * sizeof *partners);
    for (size_t i = 0; i < n; i++) {
        partners[i] = send_by(order, a, a->partners[i].number);
        partners[i] = partners[i].line ? partners[i] : readiness_no_event;
        partners[n + i] = a->partners[i];
    }
    if (a->partners != &head->one)
        free((void *)(uintptr_t)a->partners);
    a->partners = partners;
    return READY;
}

static enum readiness_state find_partners(struct order *order, struct sync_point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    if (a->stream && a->partner_count)
        return READY;
    if (a->stream)
        return byte_stream_find(order, head) || readiness_is_released(order, point) ? READY
                                                                                    : WAITING;
    if (a->partner_count == 0)
        return find_send(order, point);
    return a->partners[0].line == 0 ? find_sends(order, point) : READY;
}

static enum readiness_state wait_for_edges(struct order *order, const struct sync_point *point,
                                           const struct pending *member)
{
    const struct arrival *a = &member->arrival;
    struct event_id edges[3] = {a->after[0], a->after[1], {0, 0}};
    if (line_get(order, a->at.line)->positions.count == 0)
        edges[2] = line_opened_by(line_get(order, a->at.line));
    for (size_t i = 0; i < 3; i++) {
        struct order_line *line = edges[i].line ? line_get(order, edges[i].line) : NULL;
        if (!line || line->delivered >= edges[i].number || never_comes(order, edges[i]))
            continue;
        return wait_or_contradict(order, point, edges[i], "creates a happened-before cycle");
    }
    return READY;
}

static enum readiness_state wait_for_sends(struct order *order, const struct sync_point *point)
{
    struct pending *head = point->members[0];
    for (size_t i = 0; i < head->arrival.partner_count; i++) {
        struct event_id send = head->arrival.partners[i];
        if (event_id_equal(send, readiness_no_event))
            continue;
        const struct order_line *line = line_get(order, send.line);
        bool there = line && line->delivered >= send.number;
        uint64_t position = there ? order_position(order, send) : NO_POSITION;
        if (!line || send.number == 0 || (position != NO_POSITION && !log_sends(order, position))) {
            sync_point_mark_inconsistent(order, head, send,
                                         "receives from an event that is not a send");
            return DONE;
        }
        if (there || never_comes(order, send))
            continue;
        return wait_or_contradict(order, point, send, "creates a happened-before cycle");
    }
    return READY;
}

enum readiness_state sync_point_ready(struct order *order, struct sync_point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    bool alone = false;
    point->doubt = UNTRACED_NONE;
    if (line_get(order, a->at.line)->closed == LINE_CLOSED) {
        sync_point_mark_inconsistent(order, head, (struct event_id){0, 0},
                                     "comes after the end of its line");
        return DONE;
    }
    if (a->waits & WAITS_CONDEMNED) {
        sync_point_mark_inconsistent(order, head, (struct event_id){0, 0}, "");
        return DONE;
    }
    enum readiness_state verdict = READY;
    if (a->relation == RELATION_GROUP || (a->relation == RELATION_SYNC && a->keyed))
        verdict = readiness_join_rendezvous(order, point);
    else if (a->relation == RELATION_SYNC)
        verdict = join_partner(order, point, a->partners[0]);
    else if (a->relation == RELATION_RECEIVE && a->keyed)
        verdict = find_partners(order, point);
    if (verdict == READY_ALONE)
        alone = true;
    else if (verdict != READY)
        return verdict;
    for (size_t i = 0; i < point->count; i++) {
        verdict = wait_for_edges(order, point, point->members[i]);
        if (verdict != READY)
            return verdict;
    }
    if (a->relation == RELATION_RECEIVE) {
        verdict = wait_for_sends(order, point);
        if (verdict != READY)
            return verdict;
    }
    return alone ? READY_ALONE : READY;
}
