/* Insertion: turns events that arrive in any order into a log that respects all edges. */
#include "base/alloc.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/host_streams.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/delivery/sync_point.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/event_log.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- plain events ----
 *
 * Most events are plain, and take a fast path.  A plain event names its partners and has at most
 * one, is on an exclusive line that has not ended, follows no lost number, and is not uncertain.
 * It is checked and delivered in one step; sync_point.c handles all events. */

enum insert_plain_result {
    INSERT_PLAIN_IMPOSSIBLE,
    INSERT_PLAIN_MUST_WAIT,
    INSERT_PLAIN_DELIVERABLE
};

/* predecessors of an event on other lines: the send that it receives, if any, is first */
struct follows {
    uint64_t positions[3];
    uint32_t lines[3]; /* of the positions */
    uint32_t count, sends;
};

#define ALONE                                                                                      \
    (1u << RELATION_NONE | 1u << RELATION_SEND | 1u << RELATION_RECEIVE | 1u << RELATION_ORDER)

/* Is the event eligible, considering itself and its line? What it follows is judged separately. */
static bool insert_plain_is_eligible(const struct order_line *line, const struct arrival *a,
                                     unsigned relations)
{
    return relations >> a->relation & 1 && !a->keyed && !a->doubt &&
           (a->relation != RELATION_RECEIVE || a->partner_count == 1) && !line->shared &&
           !line->after_gap && line->closed != LINE_CLOSED &&
           !(line->opened_line && !line->positions.count);
}

/* Judges whether an event is delivered. Its line must not have gaps, so that its numbers are
 * ordinals. */
static enum insert_plain_result judge_one(const struct order *order, struct event_id at)
{
    const struct order_line *line = line_get(order, at.line);
    if (!line || !at.number || line->has_gaps)
        return INSERT_PLAIN_IMPOSSIBLE;
    if (line->delivered >= at.number)
        return INSERT_PLAIN_DELIVERABLE;
    return line->gone ? INSERT_PLAIN_IMPOSSIBLE : INSERT_PLAIN_MUST_WAIT;
}

/* Judges whether what the event follows is delivered; *need receives the event that it has to wait
 * for. */
static enum insert_plain_result insert_plain_judge(const struct order *order,
                                                   const struct arrival *a, bool after,
                                                   struct event_id *need)
{
    enum insert_plain_result j = INSERT_PLAIN_DELIVERABLE;
    for (size_t i = 0; i < 2 && after && j == INSERT_PLAIN_DELIVERABLE; i++)
        if (a->after[i].line)
            j = judge_one(order, *need = a->after[i]);
    if (j == INSERT_PLAIN_DELIVERABLE && a->relation == RELATION_RECEIVE)
        j = judge_one(order, *need = a->partners[0]);
    return j;
}

static bool is_sent(uint64_t flags) { return flags_send(flags) && !(flags & FIELD_INCONSISTENT); }

/* Finds the positions of what the event follows. Returns false if that needs more than the fast
 * path. */
static bool insert_plain_find_causes(const struct order *order, const struct arrival *a, bool after,
                                     struct follows *f)
{
    f->count = f->sends = 0;
    if (a->relation == RELATION_RECEIVE) {
        uint64_t send = log_position(order, a->partners[0]);
        if (send == NO_POSITION)
            return false;
        if (!log_is_recent_send(&order->log, send) && !is_sent(log_get(order, send, FIELD_FLAGS)))
            return false;
        f->lines[f->count] = a->partners[0].line;
        f->positions[f->count++] = send;
        f->sends = 1;
    }
    for (size_t i = 0; i < 2 && after; i++) {
        if (!a->after[i].line)
            continue;
        uint64_t position = log_position(order, a->after[i]);
        if (position == NO_POSITION || (order->figures.contradictions &&
                                        log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT))
            return false;
        f->lines[f->count] = a->after[i].line;
        f->positions[f->count++] = position;
    }
    return true;
}

static void insert_plain_deliver(struct order *order, struct order_line *line,
                                 const struct arrival *a, const struct follows *f, uint64_t point)
{
    uint64_t position = order->log.count;
    struct order_event event = event_of(a, point);
    event.edge_count = f->count;
    event.send_count = f->sends;
    occupancy_apply(order, &event);
    log_append(order, &event, f->positions, f->lines);
    if (f->sends)
        log_receive(order, f->positions[0], position, true);
    if (a->closes || (line->closed == LINE_CLOSING && a->at.number >= line->more->end))
        line->closed = LINE_CLOSED;
    struct order_line *thread = a->thread == a->at.line ? line : line_get(order, a->thread);
    if (a->thread && thread) {
        line_touch(order, a->thread);
        thread->acted = order->log.count;
    }
    if (line->waiter_count)
        line_wake(order, a->at.line);
}

/* Is it the next event of its line, and is all that it follows delivered? */
static bool insert_plain_may_deliver(const struct order *order, const struct arrival *a,
                                     unsigned relations, struct follows *f)
{
    const struct order_line *line = line_get(order, a->at.line);
    struct event_id need;
    return line && a->at.number == line->delivered + 1 && !line->pending &&
           insert_plain_is_eligible(line, a, relations) &&
           insert_plain_judge(order, a, true, &need) == INSERT_PLAIN_DELIVERABLE &&
           insert_plain_find_causes(order, a, true, f);
}

/* Delivers a new arrival if it is plain and all its predecessors are delivered.  Returns false
 * if nothing was done. */
static bool insert_plain(struct order *order, const struct arrival *a)
{
    struct follows f;
    if (!insert_plain_may_deliver(order, a, ALONE, &f))
        return false;
    insert_plain_deliver(order, line_get(order, a->at.line), a, &f, order->log.count);
    return true;
}

/* Delivers both ends of a sync pair, if they are plain and ready. */
static bool insert_plain_pair(struct order *order, const struct arrival *a, const struct arrival *b)
{
    struct follows of_a, of_b;
    if (a->at.line == b->at.line ||
        !insert_plain_may_deliver(order, a, 1u << RELATION_SYNC, &of_a) ||
        !insert_plain_may_deliver(order, b, 1u << RELATION_SYNC, &of_b))
        return false;
    uint64_t point = order->log.count;
    insert_plain_deliver(order, line_get(order, a->at.line), a, &of_a, point);
    insert_plain_deliver(order, line_get(order, b->at.line), b, &of_b, point);
    return true;
}

/* maximum number of events of one line in a row, before other lines have their turn */
#define RUN_MOST 16u

/* Can the head be delivered without a judgment? It can if it follows only its line's previous
 * event. */
static bool insert_plain_is_deliverable(const struct order *order, const struct pending *head)
{
    return !head->arrival.waits && !order->work.deferred &&
           head->arrival.relation != RELATION_RECEIVE;
}

static bool deliver_head(struct order *order, struct order_line *line, struct pending *head)
{
    struct follows f;
    if (!insert_plain_find_causes(order, &head->arrival, head->arrival.waits & WAITS_AFTER, &f))
        return false;
    insert_plain_deliver(order, line, &head->arrival, &f, order->log.count);
    pending_discard(order, head);
    line_stop_waiting(line);
    return true;
}

/* Delivers the head of a line and the plain events behind it, or makes it wait.  Returns false
 * if nothing was done. */
static bool insert_plain_head(struct order *order, uint32_t number, struct pending *head)
{
    struct order_line *line = line_get(order, number);
    struct event_id need;
    if (head->arrival.waits & ~WAITS_AFTER ||
        !insert_plain_is_eligible(line, &head->arrival, ALONE))
        return false;
    enum insert_plain_result j =
        insert_plain_judge(order, &head->arrival, head->arrival.waits & WAITS_AFTER, &need);
    if (j ==
        INSERT_PLAIN_MUST_WAIT) /* false: it would close a cycle, which the slow path reports */
        return sync_point_wait(order, &(struct sync_point){.members = &head, .count = 1}, need);
    if (j == INSERT_PLAIN_IMPOSSIBLE || !deliver_head(order, line, head))
        return false;
    for (unsigned run = 1; run < RUN_MOST && line->pending; run++) {
        head = pending_head(order, number);
        pending_prefetch_behind(line);
        if (!head || !insert_plain_is_deliverable(order, head) ||
            !insert_plain_is_eligible(line, &head->arrival, ALONE) ||
            !deliver_head(order, line, head))
            break;
    }
    if (line->pending)
        line_enqueue(order, number);
    return true;
}

/* Declares the numbers before a line's first pending event lost: no more events arrive on it. */
static void close_gap(struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    uint64_t least = pending_least(order, number);
    if (least <= line->delivered + 1)
        return;
    log_gap_found(order, number, least - line->delivered - 1);
    line_wake(order, number);
    line_enqueue(order, number);
}

/* Appends lost numbers, up to the first one that arrived nevertheless; the rest becomes pending
 * behind it. */
static void insert_apply_loss(struct order *order, uint32_t number, struct pending *head)
{
    uint64_t first = head->arrival.at.number, count = pending_lost(head);
    pending_discard(order, head);
    uint64_t came = pending_least(order, number);
    if (came && came - first < count) {
        struct arrival rest = {.at = {number, came + 1}};
        uint64_t left = first + count - came - 1;
        count = came - first;
        if (left && !pending_is(order, rest.at))
            pending_put(order, &rest, left);
    }
    log_gap(order, number, count);
}

/* Checks the head of a line; lines that may continue after it are enqueued. */
static void insert_check_head(struct order *order, uint32_t number, struct sync_point *point)
{
    struct order_line *line = line_get(order, number);
    struct pending *head = line->pending ? pending_head(order, number) : NULL;
    line->queued = false;
    if (!head && line->pending && line->settled)
        close_gap(order, number);
    if (!head)
        return;
    if (pending_lost(head)) {
        insert_apply_loss(order, number, head);
        line_wake(order, number);
        line_enqueue(order, number);
        return;
    }
    if (insert_plain_head(order, number, head))
        return;
    point->count = 0;
    sync_point_add(point, head);
    enum readiness_state verdict = sync_point_ready(order, point);
    if (verdict == READY || verdict == READY_ALONE)
        sync_point_deliver(order, point, verdict == READY_ALONE);
}

static void insert_drain_queue(struct order *order)
{
    struct delivery_work *work = &order->work;
    if (!work->queue.count || work->held)
        return;
    struct sync_point point = {0};
    while (work->queue.count && !work->held && (!work->deferred || work->looks_left)) {
        work->looks_left -= work->deferred;
        pending_prefetch(order);
        insert_check_head(order, line_dequeue(&work->queue), &point);
    }
    free(point.members);
}

void order_read_again(struct order *order, bool again) { order->work.rereading = again; }

void order_pin(struct order *order) { order->work.held = true; }

void order_unpin(struct order *order)
{
    order->work.held = false;
    insert_drain_queue(order);
}

/* ---- arrivals ---- */

/* Notes a line on which an event arrived after its end: missing ones may still arrive, too, and are
 * lost only after the next order_end_of_input(). */
static void note_straggler(struct order *order, uint32_t number)
{
    struct number_set *s = &order->work.stragglers;
    line_get(order, number)->settled = false;
    s->items = array_reserve(s->items, &s->room, s->count + 1, sizeof *s->items);
    s->items[s->count++] = number;
}

static void insert_join_rendezvous_by(struct order *order, const struct arrival *a, uint64_t second)
{
    struct rendezvous *meeting = rendezvous_add(order, a->key[0], second, a->at);
    for (size_t i = 0; i < meeting->count; i++)
        if (meeting->members[i].line)
            line_enqueue(order, meeting->members[i].line);
    for (size_t i = 0; i < meeting->waiting_count; i++)
        line_enqueue(order, meeting->waiting[i]);
    meeting->waiting_count = 0;
}

static void insert_join_rendezvous(struct order *order, const struct arrival *a)
{
    if (a->stream)
        byte_stream_match(order, a);
    else if (a->partner_count == 0)
        insert_join_rendezvous_by(order, a, a->key[1]);
    for (uint32_t i = 0; !a->stream && i < a->partner_count; i++)
        insert_join_rendezvous_by(order, a, a->partners[i].number);
}

/* Are all events delivered that this one names, apart from its line and its partner? */
static bool has_all(const struct order *order, const struct arrival *a)
{
    for (size_t i = 0; i < 2; i++) {
        const struct order_line *after =
            a->after[i].line ? line_get(order, a->after[i].line) : NULL;
        if (after && after->delivered < a->after[i].number)
            return false;
    }
    if (a->relation != RELATION_RECEIVE)
        return true;
    if (a->partner_count != 1)
        return false;
    const struct order_line *from = line_get(order, a->partners[0].line);
    if (!from || from->delivered < a->partners[0].number)
        return false;
    uint64_t send = order_position(order, a->partners[0]);
    return send != NO_POSITION && log_sends(order, send);
}

/* Can an event be delivered directly? Those that the fast path does not take can, too, if they
 * arrive in order and need not wait. */
static bool insert_may_deliver(const struct order *order, const struct arrival *a)
{
    const struct order_line *line = line_get(order, a->at.line);
    if (!line || a->at.number != line->delivered + 1 || line->pending ||
        line->closed == LINE_CLOSED || !has_all(order, a))
        return false;
    const struct order_line *opener =
        line->positions.count == 0 && line->opened_line ? line_get(order, line->opened_line) : NULL;
    return !opener || opener->delivered >= line->opened_number;
}

static void insert_deliver_ready(struct order *order, const struct arrival *const *arrivals,
                                 size_t count)
{
    struct pending pending[2];
    struct pending *members[2] = {&pending[0], &pending[1]};
    for (size_t i = 0; i < count; i++) {
        pending[i].arrival = *arrivals[i];
    }
    sync_point_append(order, &(struct sync_point){.members = members, .count = count}, false);
    for (size_t i = 0; i < count; i++)
        if (line_get(order, arrivals[i]->at.line)->waiter_count)
            line_wake(order, arrivals[i]->at.line);
    insert_drain_queue(order);
}

void order_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b)
{
    if (insert_plain_pair(order, a, b)) {
        insert_drain_queue(order);
        return;
    }
    if (a->at.line != b->at.line && insert_may_deliver(order, a) && insert_may_deliver(order, b)) {
        insert_deliver_ready(order, (const struct arrival *const[]){a, b}, 2);
        return;
    }
    order_insert(order, a);
    order_insert(order, b);
}

bool order_insert(struct order *order, const struct arrival *arrival)
{
    struct order_line *line = line_get(order, arrival->at.line);
    bool next = line && arrival->at.number == line->delivered + 1 && !line->pending;
    if (next && insert_plain(order, arrival)) {
        insert_drain_queue(order);
        return true;
    }
    if (next && !arrival->keyed &&
        (arrival->relation == RELATION_NONE || arrival->relation == RELATION_SEND ||
         arrival->relation == RELATION_RECEIVE || arrival->relation == RELATION_ORDER) &&
        insert_may_deliver(order, arrival)) {
        insert_deliver_ready(order, &arrival, 1);
        return true;
    }
    if (!line || arrival->at.number == 0 || arrival->at.number <= line->delivered ||
        (arrival->at.number <= line->highest && pending_is(order, arrival->at))) {
        order->figures.duplicates += !order->work.rereading;
        return false;
    }
    line_touch(order, arrival->at.line);
    if (arrival->at.number > line->highest)
        line->highest = arrival->at.number;
    pending_put(order, arrival, 0);
    if (line->settled)
        note_straggler(order, arrival->at.line);
    if (arrival->keyed || arrival->relation == RELATION_GROUP)
        insert_join_rendezvous(order, arrival);
    if (arrival->at.number == line->delivered + 1 || line->gone)
        line_enqueue(order, arrival->at.line);
    insert_drain_queue(order);
    return true;
}

void order_note_loss(struct order *order, uint32_t number, uint64_t first, uint64_t count)
{
    struct order_line *line = line_get(order, number);
    if (!line || count == 0 || first == 0 || first > UINT64_MAX - count)
        return;
    if (first <= line->delivered) {
        uint64_t known = line->delivered - first + 1;
        if (known >= count)
            return;
        first += known;
        count -= known;
    }
    struct arrival gap = {.at = {number, first}};
    if (pending_is(order, gap.at))
        return;
    pending_put(order, &gap, count);
    line_enqueue(order, number);
    insert_drain_queue(order);
}

/* Marks lines on which no more events arrive as gone; the lines that wait for them are checked
 * again. */
static void mark_gone(struct order *order)
{
    struct delivery_work *work = &order->work;
    struct leaving_lines *leaving = &work->leaving;
    while ((leaving->waiters || leaving->next < leaving->count) &&
           (!work->deferred || work->looks_left)) {
        work->looks_left -= work->deferred;
        if (leaving->waiters) {
            line_wake_one(order, leaving->lines[leaving->next - 1]);
            leaving->waiters--;
            continue;
        }
        uint32_t number = leaving->lines[leaving->next++];
        struct order_line *line = line_get(order, number);
        line_touch(order, number);
        line->gone = line->settled = line->leaving;
        line->leaving = false;
        leaving->waiters = line->gone ? line->waiter_count : 0;
        if (line->gone && line->pending)
            line_enqueue(order, number);
    }
    if (leaving->next < leaving->count || leaving->waiters || !leaving->count)
        return;
    leaving->next = leaving->count = 0;
    host_streams_gone(order);
}

static void insert_mark_leaving(struct order *order, const uint32_t *lines, size_t count)
{
    struct leaving_lines *leaving = &order->work.leaving;
    if (!count)
        return;
    leaving->lines = array_reserve(leaving->lines, &leaving->room, leaving->count + count,
                                   sizeof *leaving->lines);
    for (size_t i = 0; i < count; i++) {
        if (order_line_is_evicted(order, lines[i]))
            continue; /* no line waits for it */
        leaving->lines[leaving->count++] = lines[i];
        line_get(order, lines[i])->leaving = true;
    }
}

void order_end_of_input(struct order *order, const uint32_t *lines, size_t count)
{
    struct number_set *stragglers = &order->work.stragglers;
    insert_mark_leaving(order, lines, count);
    size_t gone = 0; /* without lines that were resumed */
    for (size_t i = 0; i < stragglers->count; i++)
        if (line_get(order, stragglers->items[i])->gone)
            stragglers->items[gone++] = stragglers->items[i];
    insert_mark_leaving(order, stragglers->items, gone);
    stragglers->count = 0;
    if (order->work.deferred)
        return;
    mark_gone(order);
    insert_drain_queue(order);
}

void order_resume_input(struct order *order, uint32_t line)
{
    struct order_line *l = line_get(order, line);
    line_touch(order, line);
    l->gone = l->settled = l->leaving = false;
}

void order_set_wait_for_missing(struct order *order) { order->work.deferred = true; }

/* Has the lines of all pending events checked a last time. */
static void leave_pending(struct order *order)
{
    for (uint32_t i = 1; i <= order->lines.visible.count; i++)
        if (!line_is_evicted(order, i - 1) && order->lines.visible.items[i - 1].pending)
            insert_mark_leaving(order, &i, 1);
}

/* Advances the end of the run: when all lines are checked, releases the events that still wait for
 * a partner (`finishing`). Returns whether nothing is left to do. */
static bool is_finished(struct order *order)
{
    struct delivery_work *work = &order->work;
    if (work->queue.count || work->leaving.count)
        return false;
    if (work->ending && !work->finishing) {
        work->finishing = true;
        leave_pending(order);
        if (work->leaving.count)
            return false;
    }
    work->ending = work->finishing = false;
    return true;
}

bool order_step(struct order *order, uint64_t looks)
{
    order->work.looks_left = looks;
    mark_gone(order);
    insert_drain_queue(order);
    order->work.looks_left = 0;
    return is_finished(order);
}

void order_finish(struct order *order)
{
    order->work.ending = true;
    while (!order->work.deferred && !is_finished(order)) {
        mark_gone(order);
        insert_drain_queue(order);
    }
}

struct order_figures order_figures(const struct order *order)
{
    struct order_figures figures = order->figures;
    figures.damaged += order->log.unreadable.count + order->nodes.damaged;
    figures.doubtful = order->uncertain.count;
    return figures;
}

const struct inconsistency *order_inconsistencies(const struct order *order, size_t *count)
{
    *count = order->inconsistencies.count;
    return order->inconsistencies.items;
}

uint64_t order_waiting(const struct order *order) { return order->pending.in_memory; }
uint32_t order_oldest_batch(const struct order *order) { return pending_batch(order); }
