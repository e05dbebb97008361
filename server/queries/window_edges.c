/* Order edges between events of a window that are not partners. */
#include "server/queries/window_edges.h"

#include "base/alloc.h"

#include <stdlib.h>

#define FOUND_MOST 20000u
#define COLLECTED_MOST 4u /* the newest events that one hidden event collected */

struct window_edge_search {
    const struct order *order;
    const struct layout_result *placement;
    const uint32_t *row_of;
    uint32_t lines;
    struct edge_info *found;
    size_t count, room;
};

static int by_position(const void *key, const void *placed)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct layout_event *)placed)->position;
    return a < b ? -1 : a > b;
}

static bool window_edges_is_in_window(const struct window_edge_search *f, uint64_t position,
                                      const struct order_event *e)
{
    return e->line && e->line <= f->lines && f->row_of[e->line - 1] &&
           bsearch(&position, f->placement->events, f->placement->count,
                   sizeof *f->placement->events, by_position);
}

/* Adds an edge whose cause is in the window.  Program order within one thread needs no arrow,
 * except where it creates a line. */
static void window_edges_add(struct window_edge_search *f, uint64_t from,
                             const struct order_event *to, bool opens)
{
    struct order_event cause = order_event(f->order, from);
    if (f->count >= FOUND_MOST || !window_edges_is_in_window(f, from, &cause) ||
        (cause.thread == to->thread && !opens))
        return;
    f->found = array_reserve(f->found, &f->room, f->count + 1, sizeof *f->found);
    f->found[f->count++] = (struct edge_info){{cause.line, cause.number}, {to->line, to->number}};
}

/* Adds edges from the newest events that a hidden event collected. */
static void add_collected(struct window_edge_search *f, uint64_t hidden,
                          const struct order_event *to)
{
    struct order_event h = order_event(f->order, hidden);
    uint32_t first = h.edge_count > COLLECTED_MOST ? h.edge_count - COLLECTED_MOST : 0;
    for (uint32_t i = first; i < h.edge_count; i++) {
        uint64_t from = order_edge(f->order, hidden, i);
        if (from >= order_first(f->order))
            window_edges_add(f, from, to, false);
    }
}

static void window_edges_check_event(struct window_edge_search *f, uint64_t position)
{
    struct order_event e = order_event(f->order, position);
    for (uint32_t i = e.send_count; i < e.edge_count; i++) {
        uint64_t from = order_edge(f->order, position, i);
        if (from < order_first(f->order))
            continue;
        if (order_event(f->order, from).line & HIDDEN_LINE)
            add_collected(f, from, &e);
        else
            window_edges_add(f, from, &e, e.opened && i + 1 == e.edge_count);
    }
}

size_t window_edges(const struct order *order, const struct layout_result *p,
                    const uint32_t *row_of, uint32_t lines, struct edge_info **found)
{
    struct window_edge_search f = {
        .order = order, .placement = p, .row_of = row_of, .lines = lines};
    for (size_t i = 0; i < p->count; i++)
        window_edges_check_event(&f, p->events[i].position);
    *found = f.found;
    return f.count;
}
