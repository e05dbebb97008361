#include "server/order/log/recent_sends.h"

#include "base/alloc.h"
#include "server/order/log/event_log.h"

#include <string.h>

void recent_sends_note(struct event_log *log, uint64_t block)
{
    const struct log_block *rows = log->blocks[block].rows;
    if (!log->sent.bits) {
        log->sent.bits = xcalloc(SENT_BLOCKS, BLOCK_EVENTS / 8);
        log->sent.from = block;
    }
    uint8_t *bits = log->sent.bits + block % SENT_BLOCKS * (BLOCK_EVENTS / 8);
    memset(bits, 0, BLOCK_EVENTS / 8);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t flags = block_get(rows, i, FIELD_FLAGS);
        bool sends = flags_send(flags) && !(flags & FIELD_INCONSISTENT);
        bits[i / 8] |= (uint8_t)(sends << i % 8);
    }
}
