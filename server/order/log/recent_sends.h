/* Bit set of the sends among the events of the last packed blocks: a late receive names one of
 * them, and its block need not be re-read for that.  It has one bit per event of SENT_BLOCKS
 * blocks and is not saved. */
#ifndef SERVER_ORDER_LOG_RECENT_SENDS_H
#define SERVER_ORDER_LOG_RECENT_SENDS_H

#include "server/order/log/log_block.h"
#include "server/order/log/log_state.h"

#ifndef SENT_BLOCKS /* tests make it small */
#define SENT_BLOCKS 256u
#endif

/* Must be called when the block is about to be packed. */
void recent_sends_note(struct event_log *log, uint64_t block);

/* Returns whether the event is known to be a consistent send.  False: the row must be read. */
static inline bool recent_sends_contains(const struct event_log *log, uint64_t position)
{
    uint64_t block = position / BLOCK_EVENTS;
    uint32_t i = position % BLOCK_EVENTS;
    return log->sent.bits && block < log->packed && block >= log->sent.from &&
           log->packed - block <= SENT_BLOCKS &&
           log->sent.bits[block % SENT_BLOCKS * (BLOCK_EVENTS / 8) + i / 8] >> i % 8 & 1;
}

#endif
