#include "server/order/delivery/fast_path.h"

#include "server/order/delivery/deliver.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/late_receives.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

enum fast_path_result { FAST_PATH_IMPOSSIBLE, FAST_PATH_MUST_WAIT, FAST_PATH_DELIVERABLE };

/* predecessors of an event on other lines: the send that it receives, if any, is first */
struct follows {
    uint64_t positions[3];
    uint32_t lines[3]; /* of the positions */
    uint32_t count, sends;
};

#define ALONE                                                                                      \
    (1u << RELATION_NONE | 1u << RELATION_SEND | 1u << RELATION_RECEIVE | 1u << RELATION_ORDER)

/* Is the event eligible, considering itself and its line? What it follows is judged separately. */
static bool fast_path_is_eligible(const struct order_line *line, const struct arrival *a,
                                  unsigned relations)
{
    return relations >> a->relation & 1 && !a->keyed && !a->doubt &&
           (a->relation != RELATION_RECEIVE || a->partner_count == 1) && !line->shared &&
           !line->after_gap && line->closed != LINE_CLOSED &&
           !(line->opened_line && !line->positions.count);
}

/* Judges whether an event is delivered. Its line must not have gaps, so that its numbers are
 * ordinals. */
static enum fast_path_result judge_one(const struct order *order, struct event_id at)
{
    const struct order_line *line = line_get(order, at.line);
    if (!line || !at.number || line->has_gaps)
        return FAST_PATH_IMPOSSIBLE;
    if (line->delivered >= at.number)
        return FAST_PATH_DELIVERABLE;
    return line->gone ? FAST_PATH_IMPOSSIBLE : FAST_PATH_MUST_WAIT;
}

/* Judges whether what the event follows is delivered; *need receives the event that it has to wait
 * for. */
static enum fast_path_result fast_path_judge(const struct order *order, const struct arrival *a,
                                             bool after, struct event_id *need)
{
    enum fast_path_result j = FAST_PATH_DELIVERABLE;
    for (size_t i = 0; i < 2 && after && j == FAST_PATH_DELIVERABLE; i++)
        if (a->after[i].line)
            j = judge_one(order, *need = a->after[i]);
    if (j == FAST_PATH_DELIVERABLE && a->relation == RELATION_RECEIVE)
        j = judge_one(order, *need = a->partners[0]);
    return j;
}

static bool is_sent(uint64_t flags) { return flags_send(flags) && !(flags & FIELD_INCONSISTENT); }

/* Finds the positions of what the event follows. Returns false if that needs more than the fast
 * path. */
static bool fast_path_find_causes(const struct order *order, const struct arrival *a, bool after,
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

static void fast_path_deliver(struct order *order, struct order_line *line, const struct arrival *a,
                              const struct follows *f, uint64_t point)
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

/* ---- arrivals ---- */

/* Is it the next event of its line, and is all that it follows delivered? */
static bool fast_path_may_deliver(const struct order *order, const struct arrival *a,
                                  unsigned relations, struct follows *f)
{
    const struct order_line *line = line_get(order, a->at.line);
    struct event_id need;
    return line && a->at.number == line->delivered + 1 && !line->pending &&
           fast_path_is_eligible(line, a, relations) &&
           fast_path_judge(order, a, true, &need) == FAST_PATH_DELIVERABLE &&
           fast_path_find_causes(order, a, true, f);
}

bool fast_path_insert(struct order *order, const struct arrival *a)
{
    struct follows f;
    if (!fast_path_may_deliver(order, a, ALONE, &f))
        return false;
    fast_path_deliver(order, line_get(order, a->at.line), a, &f, order->log.count);
    return true;
}

bool fast_path_insert_pair(struct order *order, const struct arrival *a, const struct arrival *b)
{
    struct follows of_a, of_b;
    if (a->at.line == b->at.line || !fast_path_may_deliver(order, a, 1u << RELATION_SYNC, &of_a) ||
        !fast_path_may_deliver(order, b, 1u << RELATION_SYNC, &of_b))
        return false;
    uint64_t point = order->log.count;
    fast_path_deliver(order, line_get(order, a->at.line), a, &of_a, point);
    fast_path_deliver(order, line_get(order, b->at.line), b, &of_b, point);
    return true;
}

/* ---- heads of lines ---- */

/* maximum number of events of one line in a row, before other lines have their turn */
#define RUN_MOST 16u

/* Can the head be delivered without a judgment? It can if it follows only its line's previous
 * event. */
static bool fast_path_is_deliverable(const struct order *order, const struct pending *head)
{
    return !head->arrival.waits && !order->work.deferred &&
           head->arrival.relation != RELATION_RECEIVE;
}

static bool deliver_head(struct order *order, struct order_line *line, struct pending *head)
{
    struct follows f;
    if (!fast_path_find_causes(order, &head->arrival, head->arrival.waits & WAITS_AFTER, &f))
        return false;
    fast_path_deliver(order, line, &head->arrival, &f, order->log.count);
    pending_discard(order, head);
    line_stop_waiting(line);
    return true;
}

bool fast_path_check_head(struct order *order, uint32_t number, struct pending *head)
{
    struct order_line *line = line_get(order, number);
    struct event_id need;
    if (head->arrival.waits & ~WAITS_AFTER || !fast_path_is_eligible(line, &head->arrival, ALONE))
        return false;
    enum fast_path_result j =
        fast_path_judge(order, &head->arrival, head->arrival.waits & WAITS_AFTER, &need);
    if (j == FAST_PATH_MUST_WAIT) /* false: it would close a cycle, which the slow path reports */
        return sync_point_wait(order, &(struct sync_point){.members = &head, .count = 1}, need);
    if (j == FAST_PATH_IMPOSSIBLE || !deliver_head(order, line, head))
        return false;
    for (unsigned run = 1; run < RUN_MOST && line->pending; run++) {
        head = pending_head(order, number);
        pending_prefetch_behind(line);
        if (!head || !fast_path_is_deliverable(order, head) ||
            !fast_path_is_eligible(line, &head->arrival, ALONE) || !deliver_head(order, line, head))
            break;
    }
    if (line->pending)
        line_enqueue(order, number);
    return true;
}
