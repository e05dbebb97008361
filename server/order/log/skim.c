/* Through a part of the log, looking at a field or two of each event. */
#include "server/order/log/block.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/state.h"

uint64_t order_about_before(const struct order *order, uint64_t position, uint64_t least,
                            const uint8_t *wanted, uint32_t lines)
{
    if (least < order->first)
        least = order->first;
    while (position > least) {
        uint64_t first = (position - 1) / BLOCK_EVENTS * BLOCK_EVENTS;
        const struct block *rows = log_block(order, position - 1);
        for (uint64_t end = first > least ? first : least; position > end; position--) {
            uint64_t about = block_get(rows, (uint32_t)(position - 1 - first), FIELD_ABOUT);
            if (about && about <= lines && wanted[about - 1])
                return position - 1;
        }
    }
    return NO_POSITION;
}

void order_count_types(const struct order *order, uint64_t from, uint64_t end, uint64_t *counts,
                       uint32_t types)
{
    while (from < end) {
        const struct block *rows = log_block(order, from);
        uint64_t first = from / BLOCK_EVENTS * BLOCK_EVENTS;
        uint64_t until = first + BLOCK_EVENTS < end ? first + BLOCK_EVENTS : end;
        for (; from < until; from++) {
            uint32_t i = (uint32_t)(from - first);
            uint64_t type = block_get(rows, i, FIELD_TYPE);
            if (type < types && !(block_get(rows, i, FIELD_LINE) & 1))
                counts[type]++;
        }
    }
}

uint64_t order_previous_of_thread(const struct order *order, uint64_t position, uint32_t most)
{
    uint64_t thread = log_get(order, position, FIELD_THREAD);
    for (uint32_t i = 0; i < most; i++) {
        uint64_t back = log_get(order, position, FIELD_PREVIOUS);
        if (!back || back > position || position - back < order->first)
            return NO_POSITION;
        position -= back;
        if (log_get(order, position, FIELD_THREAD) == thread)
            return position;
    }
    return NO_POSITION;
}
