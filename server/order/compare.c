#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    const struct order *order;
    uint64_t first;  /* nothing before this position matters */
    uint8_t *marked; /* a bit a position: known to be in the past */
    struct map reach; /* exclusive line -> greatest number in the past, as a pointer */
    bool doubt;      /* the way back crosses lost events */
};

static void mark(struct scan *scan, uint64_t position)
{
    if (position >= scan->first)
        scan->marked[(position - scan->first) / 8] |=
            (uint8_t)(1u << ((position - scan->first) % 8));
}

static bool is_past(const struct scan *scan, uint64_t position)
{
    const struct event *event = order_event(scan->order, position);
    if (event->state != EVENT_ORDERED)
        return false;
    uint64_t i = position - scan->first;
    if (scan->marked[i / 8] >> (i % 8) & 1)
        return true;
    return !order_get(scan->order, event->line)->shared &&
           (uintptr_t)map_get(&scan->reach, event->line, 0) >= event->number;
}

/* True if numbers were lost right before this event. */
static bool follows_gap(const struct line *line, const struct event *event)
{
    for (size_t i = line->gap_count; i-- > 0;)
        if (line->gaps[i].first + line->gaps[i].count == event->number)
            return true;
    return false;
}

static void follow_back(struct scan *scan, uint64_t position)
{
    const struct event *event = order_event(scan->order, position);
    const struct line *line = order_get(scan->order, event->line);
    if (!line->shared)
        map_put(&scan->reach, event->line, 0, (void *)(uintptr_t)event->number);
    if (event->partner_lost || (!line->shared && follows_gap(line, event)))
        scan->doubt = true;
    const uint64_t *edges = order_edges(scan->order, event);
    for (uint32_t i = 0; i < event->edge_count; i++)
        mark(scan, edges[i]);
}

/* Does the point at `from` precede the one that ends at `to`?  from < to. */
static enum precedence precedes(const struct order *order, uint64_t from, uint64_t to)
{
    struct scan scan = {.order = order, .first = order_event(order, from)->point};
    uint64_t from_end = order_point_end(order, from);
    scan.marked = calloc((to - scan.first) / 8 + 1, 1);
    if (!scan.marked)
        return ORDER_UNKNOWN;
    for (uint64_t p = order_event(order, to)->point; p <= to; p++)
        mark(&scan, p);
    enum precedence answer = ORDER_CONCURRENT;
    for (uint64_t end = to; answer == ORDER_CONCURRENT; end--) {
        uint64_t begin = order_event(order, end)->point;
        bool past = false;
        for (uint64_t p = begin; p <= end && !past; p++)
            past = is_past(&scan, p);
        if (past && end == from_end)
            answer = ORDER_BEFORE;
        for (uint64_t p = begin; past && p <= end; p++)
            follow_back(&scan, p);
        if (begin <= scan.first)
            break;
        end = begin;
    }
    if (answer == ORDER_CONCURRENT && scan.doubt)
        answer = ORDER_UNKNOWN;
    free(scan.marked);
    map_free(&scan.reach);
    return answer;
}

enum precedence order_compare(const struct order *order, struct ref a, struct ref b)
{
    uint64_t pa = order_position(order, a), pb = order_position(order, b);
    if (pa == NO_POSITION || pb == NO_POSITION)
        return ref_equal(a, b) ? ORDER_SAME : ORDER_UNKNOWN;
    const struct event *ea = order_event(order, pa), *eb = order_event(order, pb);
    if (ea->state != EVENT_ORDERED || eb->state != EVENT_ORDERED)
        return pa == pb ? ORDER_SAME : ORDER_UNKNOWN;
    if (ea->point == eb->point)
        return ORDER_SAME;
    pa = order_point_end(order, pa);
    pb = order_point_end(order, pb);
    if (pa < pb)
        return precedes(order, pa, pb);
    enum precedence back = precedes(order, pb, pa);
    return back == ORDER_BEFORE ? ORDER_AFTER : back;
}
