/* Retention: which part of an order is kept, and which was discarded. */
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

uint64_t order_line_highest(const struct order *order, uint32_t line)
{
    const struct order_line *l =
        line & HIDDEN_LINE ? line_get(order, line) : order_line_peek(order, line - 1);
    return l->highest > l->delivered ? l->highest : l->delivered;
}

uint64_t order_first(const struct order *order) { return order->log.first; }

uint64_t order_line_first(const struct order *order, uint32_t line)
{
    const struct order_line *l =
        line & HIDDEN_LINE ? line_get(order, line) : order_line_peek(order, line - 1);
    return order->discarding.under_way ? order_line_from(order, line, order->log.first) : l->base;
}

bool order_is_discarded(const struct order *order, struct event_id at)
{
    bool hidden = at.line & HIDDEN_LINE, there = at.line && at.line <= order->lines.visible.count;
    const struct order_line *line = hidden  ? line_get(order, at.line)
                                    : there ? order_line_peek(order, at.line - 1)
                                            : NULL;
    uint64_t base = line ? order_line_first(order, at.line) : 0;
    if (!line || base == 0 || at.number == 0 || at.number > line->delivered)
        return false;
    if (line->positions.count == base)
        return true;
    uint64_t first = order_line_at(order, at.line, base);
    return first == NO_POSITION || at.number < log_get(order, first, FIELD_NUMBER);
}
