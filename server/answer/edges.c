/* Which events of a window come before which others of it, without being partners. */
#include "server/answer/edges.h"

#include "memory/memory.h"

#include <stdlib.h>

#define FOUND_MOST 20000u
#define COLLECTED_MOST 4u /* of what one hidden event collected */

struct finding {
    const struct order *order;
    const struct placement *placement;
    const uint32_t *row_of;
    uint32_t lines;
    struct shown_edge *found;
    size_t count, room;
};

static int by_position(const void *key, const void *placed)
{
    uint64_t a = *(const uint64_t *)key, b = ((const struct placed *)placed)->position;
    return a < b ? -1 : a > b;
}

static bool is_here(const struct finding *f, uint64_t position, const struct event *e)
{
    return e->line && e->line <= f->lines && f->row_of[e->line - 1] &&
           bsearch(&position, f->placement->events, f->placement->count,
                   sizeof *f->placement->events, by_position);
}

/* What one thread does needs no arrow, but where it makes a line. */
static void add(struct finding *f, uint64_t from, const struct event *to, bool opens)
{
    struct event cause = order_event(f->order, from);
    if (f->count >= FOUND_MOST || !is_here(f, from, &cause) ||
        (cause.thread == to->thread && !opens))
        return;
    f->found = grow(f->found, &f->room, f->count + 1, sizeof *f->found);
    f->found[f->count++] = (struct shown_edge){{cause.line, cause.number}, {to->line, to->number}};
}

/* What a hidden event collected. */
static void add_collected(struct finding *f, uint64_t hidden, const struct event *to)
{
    struct event h = order_event(f->order, hidden);
    uint32_t first = h.edge_count > COLLECTED_MOST ? h.edge_count - COLLECTED_MOST : 0;
    for (uint32_t i = first; i < h.edge_count; i++) {
        uint64_t from = order_edge(f->order, hidden, i);
        if (from >= order_first(f->order))
            add(f, from, to, false);
    }
}

static void look_at(struct finding *f, uint64_t position)
{
    struct event e = order_event(f->order, position);
    for (uint32_t i = e.send_count; i < e.edge_count; i++) {
        uint64_t from = order_edge(f->order, position, i);
        if (from < order_first(f->order))
            continue;
        if (order_event(f->order, from).line & HIDDEN_LINE)
            add_collected(f, from, &e);
        else
            add(f, from, &e, e.opened && i + 1 == e.edge_count);
    }
}

size_t window_edges(const struct order *order, const struct placement *p, const uint32_t *row_of,
                    uint32_t lines, struct shown_edge **found)
{
    struct finding f = {.order = order, .placement = p, .row_of = row_of, .lines = lines};
    for (size_t i = 0; i < p->count; i++)
        look_at(&f, p->events[i].position);
    *found = f.found;
    return f.count;
}
