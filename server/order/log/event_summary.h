/* Event summary: eight bytes per event for searches of the past and sweeps of a window, since
 * most events are alone in their synchronization point and have at most one edge.  It is made
 * from a block on first use and kept with the block. */
#ifndef SERVER_ORDER_LOG_EVENT_SUMMARY_H
#define SERVER_ORDER_LOG_EVENT_SUMMARY_H

#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"

#define EVENT_SUMMARY_CHECK                                                                        \
    UINT32_MAX /* in place of an edge: look at the row and its neighbours, there is more to it */

struct event_summary {
    /* of rows 0 .. known - 1: never of the last, since the next one shows whether it is alone */
    uint32_t known;
    uint32_t line[BLOCK_EVENTS]; /* block_line_code */
    uint32_t edge[BLOCK_EVENTS]; /* as FIELD_EDGE, of one edge or none */
};

const struct event_summary *event_summary_make(const struct order *order, uint64_t block);

/* Returns the summary of the block of a position; it is valid until another block is loaded. */
static inline const struct event_summary *log_event_summary(const struct order *order,
                                                            uint64_t position)
{
    const struct log_block *rows = log_block(order, position);
    const struct event_summary *glance = rows->glance;
    return glance && glance->known + 1 >= rows->count
               ? glance
               : event_summary_make(order, position / BLOCK_EVENTS);
}

/* Rows i and i + 1, which a glance has, are all of one point: has each of them one edge or none? */
static inline bool event_summary_pair(const struct log_block *rows, uint32_t i, uint32_t edge[2])
{
    for (uint32_t k = 0; k < 2; k++) {
        uint64_t e = block_get(rows, i + k, FIELD_EDGE);
        if ((e & 3) == 3 || e > UINT32_MAX ||
            block_get(rows, i + k, FIELD_FLAGS) & FIELD_INCONSISTENT)
            return false;
        edge[k] = (uint32_t)e;
    }
    return true;
}

/* Returns the code of the line of an event. */
static inline uint32_t log_line_code(const struct order *order, uint64_t position)
{
    const struct event_summary *glance = log_event_summary(order, position);
    uint32_t i = position % BLOCK_EVENTS;
    return i < glance->known ? glance->line[i] : (uint32_t)log_get(order, position, FIELD_LINE);
}

#endif
