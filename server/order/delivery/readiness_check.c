/* Readiness check: finds the members of a head's synchronization point and whether all their
 * predecessors are delivered. */
#include "server/order/delivery/readiness_check.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/order/delivery/deliver.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/byte_stream_match.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

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
