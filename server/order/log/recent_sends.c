#include "server/order/log/recent_sends.h"

#include "base/alloc.h"
#include "server/order/log/event_log.h"

#include <string.h>

void recent_sends_note(struct order *order, uint64_t block)
{
    const struct log_block *rows = order->blocks[block].rows;
    if (!order->sent) {
        order->sent = xcalloc(SENT_BLOCKS, BLOCK_EVENTS / 8);
        order->sent_from = block;
    }
    uint8_t *bits = order->sent + block % SENT_BLOCKS * (BLOCK_EVENTS / 8);
    memset(bits, 0, BLOCK_EVENTS / 8);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t flags = block_get(rows, i, FIELD_FLAGS);
        bool sends = flags_send(flags) && !(flags & FIELD_INCONSISTENT);
        bits[i / 8] |= (uint8_t)(sends << i % 8);
    }
}
