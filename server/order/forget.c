/* Forgetting the oldest part of a run that is kept only up to a size. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

static void forget_on_line(struct line *line, uint64_t first)
{
    uint64_t n = line->count - line->base, k = 0;
    while (k < n && line->positions[k] < first)
        k++;
    memmove(line->positions, line->positions + k, (n - k) * sizeof *line->positions);
    line->base += k;
}

static void drop_pool(uint64_t *pool, uint64_t *base, uint64_t count, uint64_t new_base)
{
    if (new_base <= *base)
        return;
    memmove(pool, pool + (new_base - *base), (count - new_base) * sizeof *pool);
    *base = new_base;
}

void order_forget(struct order *order, uint64_t position)
{
    size_t from = order->first / CHUNK_EVENTS, to = position / CHUNK_EVENTS;
    if (position > order->count || to <= from || to * CHUNK_EVENTS >= order->count)
        return;
    for (size_t i = from; i < to; i++) {
        free(order->chunks[i]);
        order->chunks[i] = NULL;
    }
    order->first = (uint64_t)to * CHUNK_EVENTS;
    /* Members of one point stay together: a point that is cut is forgotten whole. */
    while (order->first < order->count &&
           order_event(order, order->first)->point < order->first)
        order->first++;
    for (size_t i = 0; i < order->line_count; i++)
        forget_on_line(&order->lines[i], order->first);
    for (size_t i = 0; i < order->hidden_count; i++)
        forget_on_line(&order->hidden[i], order->first);
    drop_pool(order->edges, &order->edge_base, order->edge_count, order->starts[to].edges);
    if (order->links)
        drop_pool(order->links, &order->link_base, order->link_count, order->starts[to].links);
}

void order_forgotten(struct order *order, uint32_t number, uint64_t last)
{
    struct line *line = order_get(order, number);
    if (line->count || line->delivered || line->pending)
        return;
    line->count = line->base = line->delivered = line->highest = last;
}

uint64_t order_line_highest(const struct order *order, uint32_t line)
{
    const struct line *l = order_get(order, line);
    return l->highest > l->delivered ? l->highest : l->delivered;
}

uint64_t order_first(const struct order *order) { return order->first; }

uint64_t order_line_first(const struct order *order, uint32_t line)
{
    return order_get(order, line)->base;
}

bool order_is_forgotten(const struct order *order, struct ref at)
{
    const struct line *line = order_get(order, at.line);
    if (!line || line->base == 0 || at.number == 0 || at.number > line->delivered)
        return false;
    if (line->count == line->base)
        return true;
    return at.number < order_event(order, line->positions[0])->number;
}
