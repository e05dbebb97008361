#include "server/queries/hidden_edges.h"

#include "base/map.h"
#include "wire/layout_results.h"

#include <stdlib.h>

#define LOOK_EVENTS 64u /* events searched backwards from one predecessor */
#define FOUND_MOST 20000u

struct hidden_edge_search {
    const struct order *order;
    const uint32_t *row_of;
    uint32_t lines;
    struct via_info *found;
    size_t count, room;
    /* By lines of the effect and of the cause: 1 + position of the last reported cause. */
    struct map reported;
    /* For the current event: */
    uint64_t to;
    uint32_t row;
    unsigned looked;
    bool done;
};

static uint32_t row_of(const struct hidden_edge_search *l, uint32_t line)
{
    return line && line <= l->lines ? l->row_of[line - 1] : 0;
}

static struct event_id ref_at(const struct order *order, uint64_t position)
{
    struct order_event e = order_event(order, position);
    return (struct event_id){e.line, e.number};
}

/* Ends the search at a cause on a row, and reports the edge unless the succession of the rows
 * implies it. */
static void hidden_edges_arrive_at_row(struct hidden_edge_search *l, uint64_t from,
                                       uint32_t through)
{
    uint32_t line = order_event(l->order, from).line, to = order_event(l->order, l->to).line;
    l->done = true;
    if (row_of(l, line) == l->row || l->count >= FOUND_MOST ||
        (uint64_t)(uintptr_t)map_get(&l->reported, to, line) > from)
        return;
    map_put(&l->reported, to, line, (void *)(uintptr_t)(from + 1));
    l->found = array_reserve(l->found, &l->room, l->count + 1, sizeof *l->found);
    l->found[l->count++] =
        (struct via_info){ref_at(l->order, from), ref_at(l->order, l->to), through};
}

static void hidden_edges_follow_line(struct hidden_edge_search *l, uint64_t position,
                                     uint32_t through);

/* Follows the incoming edges of an event on a line without a row. */
static void hidden_edges_scan_edges(struct hidden_edge_search *l, uint64_t position,
                                    const struct order_event *e, uint32_t through)
{
    for (uint32_t i = 0; i < e->edge_count && !l->done; i++) {
        uint64_t from = order_edge(l->order, position, i);
        if (from < order_first(l->order))
            continue;
        if (row_of(l, order_event(l->order, from).line))
            hidden_edges_arrive_at_row(l, from, through);
        else
            hidden_edges_follow_line(l, from, through);
    }
}

static void hidden_edges_scan_point(struct hidden_edge_search *l, uint64_t position,
                                    const struct order_event *e, uint32_t through)
{
    uint64_t end = order_point_end(l->order, position);
    for (uint64_t p = e->point; p <= end && !l->done; p++)
        if (row_of(l, order_event(l->order, p).line))
            hidden_edges_arrive_at_row(l, p, through);
}

/* Returns the previous event on the line; NO_POSITION if the succession of the line is no order. */
static uint64_t back_from(const struct hidden_edge_search *l, uint64_t position, uint32_t line)
{
    return order_line_shared(l->order, line) ? NO_POSITION : order_previous(l->order, position);
}

/* Searches backwards along a line without a row. */
static void hidden_edges_follow_line(struct hidden_edge_search *l, uint64_t position,
                                     uint32_t through)
{
    while (!l->done && position != NO_POSITION && l->looked++ < LOOK_EVENTS) {
        struct order_event e = order_event(l->order, position);
        if (!e.line)
            return; /* damaged */
        hidden_edges_scan_point(l, position, &e, through);
        hidden_edges_scan_edges(l, position, &e, through);
        position = back_from(l, position, e.line);
    }
}

/* Searches from a direct predecessor of the drawn event. own_point: it is in the same
 * synchronization point, which must not be found again. */
static void hidden_edges_begin(struct hidden_edge_search *l, uint64_t position, bool own_point)
{
    struct order_event e = order_event(l->order, position);
    if (l->done || !e.line || e.line & HIDDEN_LINE || row_of(l, e.line))
        return;
    l->looked = 0;
    if (own_point) {
        hidden_edges_scan_edges(l, position, &e, e.line);
        position = back_from(l, position, e.line);
    }
    hidden_edges_follow_line(l, position, e.line);
}

size_t hidden_edges_find(const struct order *order, const struct layout_result *p,
                         const uint32_t *rows, uint32_t lines, struct via_info **found)
{
    struct hidden_edge_search l = {.order = order, .row_of = rows, .lines = lines};
    uint32_t shown = 0;
    for (uint32_t line = 1; line <= lines; line++)
        shown += rows[line - 1] != 0;
    for (size_t i = 0; shown < lines && i < p->count; i++) {
        uint64_t at = p->events[i].position, end = order_point_end(order, at);
        struct order_event e = order_event(order, at);
        l.to = at;
        l.row = row_of(&l, e.line);
        l.done = false;
        for (uint64_t q = e.point; q <= end; q++)
            if (q != at)
                hidden_edges_begin(&l, q, true);
        for (uint32_t k = 0; k < e.edge_count; k++) {
            uint64_t from = order_edge(order, at, k);
            if (from >= order_first(order))
                hidden_edges_begin(&l, from, false);
        }
    }
    map_free(&l.reported);
    *found = l.found;
    return l.count;
}
