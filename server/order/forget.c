/* Forgetting the oldest part of a run that is kept only up to a size. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

void order_forget(struct order *order, uint64_t position)
{
    uint64_t from = order->first / BLOCK_EVENTS, to = position / BLOCK_EVENTS;
    if (position > order->count || to <= from || to * BLOCK_EVENTS >= order->count)
        return;
    uint64_t first = to * BLOCK_EVENTS;
    /* Members of one point stay together: a point that is cut is forgotten whole. */
    while (first < order->count && log_get(order, first, ROW_POINT))
        first++;
    for (size_t i = 0; i < order->line_count; i++)
        order->lines[i].base = order_line_from(order, (uint32_t)i + 1, first);
    for (size_t i = 0; i < order->hidden_count; i++)
        order->hidden[i].base = order_line_from(order, HIDDEN_LINE | (uint32_t)(i + 1), first);
    order->first = first;
    while (order->packed < to)
        log_pack(order);
    order_rest(order);
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
    if (line->positions.count == line->base)
        return true;
    uint64_t first = order_line_at(order, at.line, line->base);
    return first == NO_POSITION || at.number < log_get(order, first, ROW_NUMBER);
}
