/* Intake: from events in any order to a log in an order that respects all edges. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

static bool step(struct order *order, uint32_t number, struct point *point)
{
    struct line *line = order_get(order, number);
    struct pending *head =
        line->pending ? pending_at(order, (struct ref){number, line->delivered + 1}) : NULL;
    if (!head)
        return false;
    if (head->lost) {
        uint64_t count = head->lost;
        pending_forget(order, head);
        log_gap(order, number, count);
        line_wake(order, number);
        return true;
    }
    point->count = 0;
    point_add(point, head);
    enum verdict verdict = point_judge(order, point);
    if (verdict == READY || verdict == READY_ALONE)
        point_deliver(order, point, verdict == READY_ALONE);
    return verdict != WAITING;
}

static void drain(struct order *order)
{
    struct point point = {0};
    while (order->work_count) {
        uint32_t number = order->work[--order->work_count];
        order_get(order, number)->queued = false;
        while (step(order, number, &point))
            ;
    }
    free(point.members);
}

/* ---- coming in ---- */

static void meet(struct order *order, const struct arrival *a)
{
    struct meeting *meeting = meeting_of(order, a);
    if (!meeting) {
        meeting = calloc(1, sizeof *meeting);
        if (!meeting)
            abort();
        map_put(&order->meetings, a->key[0], a->key[1], meeting);
    }
    meeting->members =
        grow(meeting->members, &meeting->room, meeting->count + 1, sizeof *meeting->members);
    meeting->members[meeting->count++] = a->at;
    for (size_t i = 0; i < meeting->count; i++)
        if (meeting->members[i].line)
            line_enqueue(order, meeting->members[i].line);
    for (size_t i = 0; i < meeting->waiting_count; i++)
        line_enqueue(order, meeting->waiting[i]);
    meeting->waiting_count = 0;
}

static struct pending *pending_new(struct order *order, struct ref at)
{
    struct pending *pending = calloc(1, sizeof *pending);
    if (!pending)
        abort();
    pending->arrival.at = at;
    map_put(&order->pending, at.line, at.number, pending);
    order_get(order, at.line)->pending++;
    order->figures.pending++;
    return pending;
}

/* Most events come in order and need not wait: they are delivered as they are. */
static bool may_pass(const struct order *order, const struct arrival *a)
{
    const struct line *line = order_get(order, a->at.line);
    if (!line || a->at.number != line->delivered + 1 || line->pending || line->closed ||
        order->work_count)
        return false;
    for (size_t i = 0; i < 2; i++) {
        const struct line *after = a->after[i].line ? order_get(order, a->after[i].line) : NULL;
        if (after && after->delivered < a->after[i].number)
            return false;
    }
    const struct line *opener = line->count == 0 && line->opened_by.line
                                    ? order_get(order, line->opened_by.line)
                                    : NULL;
    return !opener || opener->delivered >= line->opened_by.number;
}

static void pass(struct order *order, const struct arrival *const *arrivals, size_t count)
{
    struct pending pending[2] = {0};
    struct pending *members[2] = {&pending[0], &pending[1]};
    for (size_t i = 0; i < count; i++) {
        pending[i].arrival = *arrivals[i];
        if (arrivals[i]->at.number > order_get(order, arrivals[i]->at.line)->highest)
            order_get(order, arrivals[i]->at.line)->highest = arrivals[i]->at.number;
    }
    point_append(order, &(struct point){.members = members, .count = count}, false);
    for (size_t i = 0; i < count; i++)
        if (order_get(order, arrivals[i]->at.line)->waiter_count)
            line_wake(order, arrivals[i]->at.line);
    if (order->work_count)
        drain(order);
}

void order_accept_pair(struct order *order, const struct arrival *a, const struct arrival *b)
{
    if (a->at.line != b->at.line && may_pass(order, a) && may_pass(order, b)) {
        pass(order, (const struct arrival *const[]){a, b}, 2);
        return;
    }
    order_accept(order, a);
    order_accept(order, b);
}

bool order_accept(struct order *order, const struct arrival *arrival)
{
    if (!arrival->keyed &&
        (arrival->relation == RELATION_NONE || arrival->relation == RELATION_SEND ||
         arrival->relation == RELATION_ORDER) &&
        may_pass(order, arrival)) {
        pass(order, &arrival, 1);
        return true;
    }
    struct line *line = order_get(order, arrival->at.line);
    if (!line || arrival->at.number == 0 || arrival->at.number <= line->delivered ||
        pending_at(order, arrival->at)) {
        order->figures.duplicates++;
        return false;
    }
    struct pending *pending = pending_new(order, arrival->at);
    if (arrival->at.number > line->highest)
        line->highest = arrival->at.number;
    pending->arrival = *arrival;
    pending->arrival.partners = NULL;
    if (arrival->partner_count) {
        pending->partners = malloc(arrival->partner_count * sizeof *pending->partners);
        if (!pending->partners)
            abort();
        memcpy(pending->partners, arrival->partners,
               arrival->partner_count * sizeof *pending->partners);
    }
    if (arrival->keyed || arrival->relation == RELATION_GROUP)
        meet(order, arrival);
    if (arrival->at.number == line->delivered + 1 || line->gone)
        line_enqueue(order, arrival->at.line);
    /* Those who wait for just this event must look again: it may not name them. */
    for (size_t i = 0; i < line->waiter_count; i++)
        if (line->waiters[i].number == arrival->at.number)
            line_enqueue(order, line->waiters[i].line);
    drain(order);
    return true;
}

void order_lost(struct order *order, uint32_t number, uint64_t first, uint64_t count)
{
    struct line *line = order_get(order, number);
    if (!line || count == 0 || first == 0 || first > UINT64_MAX - count)
        return;
    if (first <= line->delivered) {
        uint64_t known = line->delivered - first + 1;
        if (known >= count)
            return;
        first += known;
        count -= known;
    }
    if (pending_at(order, (struct ref){number, first}))
        return;
    pending_new(order, (struct ref){number, first})->lost = count;
    line_enqueue(order, number);
    drain(order);
}

/* Declares lost what lies before the first pending event of each gone line. */
static bool close_gaps(struct order *order)
{
    uint64_t *least = calloc(order->line_count + 1, sizeof *least);
    if (!least)
        abort();
    for (size_t i = 0; i < order->pending.room; i++) {
        if (!order->pending.entries[i].value)
            continue;
        struct map_entry *entry = &order->pending.entries[i];
        if (entry->a <= order->line_count && (!least[entry->a] || entry->b < least[entry->a]))
            least[entry->a] = entry->b;
    }
    bool any = false;
    for (uint32_t i = 1; i <= order->line_count; i++) {
        struct line *line = &order->lines[i - 1];
        if (!line->gone || !least[i] || least[i] <= line->delivered + 1)
            continue;
        log_gap(order, i, least[i] - line->delivered - 1);
        line_wake(order, i);
        line_enqueue(order, i);
        any = true;
    }
    free(least);
    return any;
}

void order_gone(struct order *order, const uint32_t *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order_get(order, lines[i])->gone = true;
    do { /* whoever waits for what never comes looks again */
        for (uint32_t i = 1; i <= order->line_count; i++)
            if (order->lines[i - 1].pending)
                line_enqueue(order, i);
        drain(order);
    } while (close_gaps(order));
}

struct order_figures order_figures(const struct order *order) { return order->figures; }

const struct trouble *order_troubles(const struct order *order, size_t *count)
{
    *count = order->trouble_count;
    return order->troubles;
}

void order_pending(const struct order *order,
                   void (*visit)(void *context, const struct arrival *), void *context)
{
    for (size_t i = 0; i < order->pending.room; i++) {
        const struct pending *pending = order->pending.entries[i].value;
        if (!pending || pending->lost)
            continue;
        struct arrival arrival = pending->arrival;
        arrival.partners = pending->partners;
        visit(context, &arrival);
    }
}
