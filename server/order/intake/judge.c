/* Judging: who is in the point of a line's head, and is all there that it follows? */
#include "server/order/intake/judge.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/intake/deliver.h"
#include "server/order/intake/meet.h"
#include "server/order/intake/pending.h"
#include "server/order/intake/stream.h"
#include "server/order/intake/wait.h"
#include "server/order/log/lines.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>
#include <string.h>

void point_add(struct point *point, struct pending *pending)
{
    point->members = grow(point->members, &point->room, point->count + 1, sizeof *point->members);
    point->members[point->count++] = pending;
}

static bool never_comes(const struct order *order, struct ref ref)
{
    const struct line *line = line_get(order, ref.line);
    return line->gone && line->delivered < ref.number && !pending_is(order, ref);
}

static enum verdict wait_or_contradict(struct order *order, const struct point *point,
                                       struct ref need, const char *why)
{
    if (point_wait(order, point, need))
        return WAITING;
    point_contradict(order, point->members[0], need, why);
    return DONE;
}

static const char *refusal(const struct order *order, struct ref partner, struct ref self)
{
    uint64_t position = order_position(order, partner);
    const struct pending *p = pending_at(order, partner);
    unsigned relation = position != NO_POSITION ? log_relation(order, position)
                        : p                     ? (unsigned)p->arrival.relation
                                                : RELATION_NONE;
    (void)self;
    if (relation == RELATION_SYNC)
        return "names a partner that is paired with another event";
    return "names a partner that does not name it back";
}

/* Who waits for somebody by a key is let go when the run is over: what the other did is not known. */
static bool is_let_go(const struct order *order, struct point *point)
{
    if (order->finishing)
        point->doubt = order->figures.lost ? UNSEEN_LOST : UNSEEN_THREAD;
    return order->finishing;
}

/* A SYNC head: its partner must be a head that names it back. */
static enum verdict join_partner(struct order *order, struct point *point, struct ref partner)
{
    struct pending *head = point->members[0];
    struct line *line = line_get(order, partner.line);
    if (!line || partner.number == 0 || partner.line == head->arrival.at.line) {
        point_contradict(order, head, partner, "is paired with an event that cannot be");
        return DONE;
    }
    if (line->delivered >= partner.number) {
        if (order_position(order, partner) == NO_POSITION)
            return READY_ALONE; /* lost */
        point_contradict(order, head, partner, refusal(order, partner, head->arrival.at));
        return DONE;
    }
    struct pending *other = pending_at(order, partner);
    if (!other) {
        if (never_comes(order, partner))
            return READY_ALONE;
        return wait_or_contradict(order, point, partner, "closes a cycle");
    }
    if (!pending_lost(other) && (other->arrival.relation != RELATION_SYNC || other->arrival.keyed ||
                                 !ref_equal(other->arrival.partners[0], head->arrival.at))) {
        point_contradict(order, head, partner, refusal(order, partner, head->arrival.at));
        return DONE;
    }
    if (pending_lost(other) || line->delivered + 1 != partner.number)
        return wait_or_contradict(order, point, partner, "closes a cycle");
    point_add(point, other);
    return READY;
}

/* A keyed head: all who meet by its key must be heads. */
static enum verdict join_meeting(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    struct meeting *meeting = meeting_of(order, a);
    size_t size = a->relation == RELATION_GROUP ? a->group_size : 2;
    if (!meeting) { /* they are complete for so long that they were forgotten */
        point_contradict(order, head, (struct ref){0, 0}, "comes to a group that is complete");
        return DONE;
    }
    if (meeting->released) {
        point->doubt = UNSEEN_LOST;
        return READY;
    }
    if (meeting->count < size && is_let_go(order, point)) {
        size = meeting->count;
    } else if (meeting->count < size) {
        struct line *line = line_get(order, a->at.line);
        if (line->more->wait.line == 0) {
            meeting->waiting = grow(meeting->waiting, &meeting->waiting_room,
                                    meeting->waiting_count + 1, sizeof *meeting->waiting);
            meeting->waiting[meeting->waiting_count++] = a->at.line;
        }
        return WAITING;
    }
    if (meeting->done) {
        point_contradict(order, head, meeting->members[0], "comes to a group that is complete");
        return DONE;
    }
    size_t rank = 0;
    while (rank < meeting->count && !ref_equal(meeting->members[rank], a->at))
        rank++;
    if (rank >= size) {
        point_contradict(order, head, meeting->members[0], "comes to a group that is complete");
        return DONE;
    }
    for (size_t i = 0; i < size; i++) {
        struct ref ref = meeting->members[i];
        if (ref_equal(ref, a->at))
            continue;
        struct pending *other = pending_at(order, ref);
        if (point_has(point, ref.line) || !other || other->arrival.relation != a->relation ||
            (a->relation == RELATION_GROUP && other->arrival.group_size != a->group_size)) {
            point_contradict(order, head, ref, "meets by its key an event that does not fit");
            return DONE;
        }
        if (line_get(order, ref.line)->delivered + 1 != ref.number)
            return wait_or_contradict(order, point, ref, "closes a cycle");
        point_add(point, other);
    }
    return READY;
}

/* The send among those who meet by a key; line 0: it is not there yet. */
static struct ref send_by(const struct order *order, const struct arrival *a, uint64_t second)
{
    const struct meeting *meeting = map_get(&order->meetings, a->key[0], second);
    for (size_t i = 0; meeting && i < meeting->count; i++) {
        struct ref at = meeting->members[i];
        uint64_t position = order_position(order, at);
        const struct pending *p = pending_at(order, at);
        if ((p && (p->arrival.relation == RELATION_SEND || p->arrival.sends) &&
             !ref_equal(at, a->at)) ||
            (position != NO_POSITION && log_sends(order, position)))
            return at;
    }
    return (struct ref){0, 0};
}

/* A keyed RECEIVE: finds its send, or waits to be woken by it. */
static enum verdict find_send(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    struct arrival *a = &head->arrival;
    struct ref send = send_by(order, a, a->key[1]);
    if (!send.line)
        return is_let_go(order, point) ? READY : WAITING;
    head->one = send;
    a->partners = &head->one;
    a->partner_count = 1;
    return READY;
}

/* Stands for a send that never came. */
static const struct ref nobody = {UINT32_MAX, 1};

/* With many keys: finds all its sends; the keys go behind them. */
static enum verdict find_sends(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    struct arrival *a = &head->arrival;
    for (uint32_t i = 0; i < a->partner_count; i++)
        if (!send_by(order, a, a->partners[i].number).line && !is_let_go(order, point))
            return WAITING;
    size_t n = a->partner_count;
    struct ref *partners = memory_bytes(2 * n * sizeof *partners);
    for (size_t i = 0; i < n; i++) {
        partners[i] = send_by(order, a, a->partners[i].number);
        partners[i] = partners[i].line ? partners[i] : nobody;
        partners[n + i] = a->partners[i];
    }
    if (a->partners != &head->one)
        free((void *)(uintptr_t)a->partners);
    a->partners = partners;
    return READY;
}

static enum verdict find_partners(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    if (a->stream && a->partner_count)
        return READY;
    if (a->stream)
        return stream_find(order, head) || is_let_go(order, point) ? READY : WAITING;
    if (a->partner_count == 0)
        return find_send(order, point);
    return a->partners[0].line == 0 ? find_sends(order, point) : READY;
}

static enum verdict wait_for_edges(struct order *order, const struct point *point,
                                   const struct pending *member)
{
    const struct arrival *a = &member->arrival;
    struct ref edges[3] = {a->after[0], a->after[1], {0, 0}};
    if (line_get(order, a->at.line)->positions.count == 0)
        edges[2] = line_opened_by(line_get(order, a->at.line));
    for (size_t i = 0; i < 3; i++) {
        struct line *line = edges[i].line ? line_get(order, edges[i].line) : NULL;
        if (!line || line->delivered >= edges[i].number || never_comes(order, edges[i]))
            continue;
        return wait_or_contradict(order, point, edges[i], "closes a cycle");
    }
    return READY;
}

static enum verdict wait_for_sends(struct order *order, const struct point *point)
{
    struct pending *head = point->members[0];
    for (size_t i = 0; i < head->arrival.partner_count; i++) {
        struct ref send = head->arrival.partners[i];
        if (ref_equal(send, nobody))
            continue;
        const struct line *line = line_get(order, send.line);
        bool there = line && line->delivered >= send.number;
        uint64_t position = there ? order_position(order, send) : NO_POSITION;
        if (!line || send.number == 0 || (position != NO_POSITION && !log_sends(order, position))) {
            point_contradict(order, head, send, "receives from an event that sends nothing");
            return DONE;
        }
        if (there || never_comes(order, send))
            continue;
        return wait_or_contradict(order, point, send, "closes a cycle");
    }
    return READY;
}

enum verdict point_judge(struct order *order, struct point *point)
{
    struct pending *head = point->members[0];
    const struct arrival *a = &head->arrival;
    bool alone = false;
    point->doubt = UNSEEN_NONE;
    if (line_get(order, a->at.line)->closed == LINE_CLOSED) {
        point_contradict(order, head, (struct ref){0, 0}, "comes after the end of its line");
        return DONE;
    }
    if (a->waits & WAITS_CONDEMNED) {
        point_contradict(order, head, (struct ref){0, 0}, "");
        return DONE;
    }
    enum verdict verdict = READY;
    if (a->relation == RELATION_GROUP || (a->relation == RELATION_SYNC && a->keyed))
        verdict = join_meeting(order, point);
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
