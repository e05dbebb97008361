/* Discards the oldest part of a run that is kept only up to a size. */
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/causality/uncertainty.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* Frees what a line without kept events does not need: most are threads and objects that ended long
 * ago. `last` remains, since the line's next event follows that one. */
static void discard_trim_line(struct order_line *line)
{
    position_list_release(&line->positions);
    line_clear_neighbors(line);
    line->dense = false;
    line_trim(line);
}

static void forget_line(struct order *order, uint32_t number, uint64_t first)
{
    struct order_line *line = line_get(order, number);
    if (line->acted && line->acted <= first) {
        line_touch(order, number);
        line->acted = 0; /* no event that is kept */
    }
    if (line->base == line->positions.count)
        return; /* no events since */
    uint64_t base = order_line_from(order, number, first);
    if (line->base == base)
        return;
    line_touch(order, number);
    line->base = base;
    if (base == line->positions.count)
        discard_trim_line(line);
}

void order_discard_begin(struct order *order, uint64_t position)
{
    while (!order_discard_step(order))
        ;
    uint64_t from = order->log.first / BLOCK_EVENTS, to = position / BLOCK_EVENTS;
    if (position > order->log.count || to <= from || to * BLOCK_EVENTS >= order->log.count)
        return;
    uint64_t first = to * BLOCK_EVENTS;
    /* Members of one point stay together: a point that is cut is discarded as a whole. */
    while (first < order->log.count && log_get(order, first, FIELD_POINT))
        first++;
    order->log.first = first;
    order->discarding = (struct order_discarding){.under_way = true};
    if (order->uncertain.count && order->uncertain.first < first)
        order->uncertain.discarded_reasons = order->uncertain.reasons;
    uncertainty_drop(&order->uncertain);
}

#ifndef FORGET_LOOKS
#define FORGET_LOOKS 128u /* lines per step: each may have to read a node from the block store */
#endif

bool order_discard_step(struct order *order)
{
    struct order_discarding *f = &order->discarding;
    if (!f->under_way)
        return true;
    if (order->log.packed < order->log.first / BLOCK_EVENTS) {
        log_pack_one(order);
        return false;
    }
    for (unsigned looks = 0; looks < FORGET_LOOKS; looks++) {
        if (f->line < order->lines.visible.count) {
            size_t i = f->line++;
            if (!line_is_evicted(order, i))
                forget_line(order, (uint32_t)i + 1, order->log.first);
        } else if (f->hidden < order->lines.hidden.count) {
            forget_line(order, HIDDEN_LINE | (uint32_t)++f->hidden, order->log.first);
        } else if (order_evict_lines(order, &f->evicted)) {
            f->under_way = false;
            order_release_caches(order);
            return true;
        } else {
            return false;
        }
    }
    return false;
}

void order_discard(struct order *order, uint64_t position)
{
    order_discard_begin(order, position);
    while (!order_discard_step(order))
        ;
}
