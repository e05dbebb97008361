/* Unreadable parts of the block store, and the events that are lost with them. */
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"

#include <stdlib.h>

/* Returns the number of an event of a line from the gaps before it, without reading the event.
 * *until receives the ordinal of the next event that follows a gap. */
static uint64_t number_of(const struct order_line *line, uint64_t ordinal, uint64_t *until)
{
    uint64_t missing = 0;
    *until = UINT64_MAX;
    for (size_t i = 0; i < line->more->gap_count; i++) {
        if (line->more->gaps[i].ordinal > ordinal) {
            *until = line->more->gaps[i].ordinal;
            break;
        }
        missing += line->more->gaps[i].count;
    }
    return ordinal + 1 + missing;
}

void order_unreadable(const struct order *order, uint32_t number_of_line,
                      void (*visit)(void *context, uint64_t first, uint64_t count), void *context)
{
    const struct order_line *line = line_get(order, number_of_line);
    for (uint64_t i = 0; i < order->log.unreadable.count; i++) {
        uint64_t begin = order->log.unreadable.blocks[i] * BLOCK_EVENTS, until;
        uint64_t at = order_line_from(order, number_of_line, begin);
        uint64_t end = order_line_from(order, number_of_line, begin + BLOCK_EVENTS);
        while (at < end && at < line->positions.count) {
            uint64_t first = number_of(line, at, &until);
            until = until < end ? until : end;
            visit(context, first, until - at);
            at = until;
        }
    }
}

static void corruption_add_count(void *context, uint64_t first, uint64_t count)
{
    (void)first;
    *(uint64_t *)context += count;
}

uint64_t order_unreadable_events(const struct order *order)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= order->lines.visible.count && order->log.unreadable.count; i++)
        order_unreadable(order, i, corruption_add_count, &count);
    return count;
}

uint64_t order_first_damage(const struct order *order)
{
    return order->log.unreadable.first_place ? order->log.unreadable.first_place
                                             : order->nodes.first_damage;
}

static void verify_line(struct order *order, const struct order_line *line)
{
    for (uint64_t i = 0; i < line->positions.count; i += POSITION_LIST_NODE)
        if (i + POSITION_LIST_NODE > line->base)
            position_list_get(&line->positions, &order->nodes, i);
}

void order_verify(struct order *order)
{
    for (uint64_t i = order->log.first / BLOCK_EVENTS; i < order->log.packed; i++)
        if (!order->log.blocks[i].rows)
            log_load(order, i);
    for (size_t i = 0; i < order->lines.visible.count; i++)
        verify_line(order, order_line_peek(order, i));
    for (size_t i = 0; i < order->lines.hidden.count; i++)
        verify_line(order, &order->lines.hidden.items[i]);
}
