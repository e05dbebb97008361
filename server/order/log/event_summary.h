/* Event summary: eight bytes per event for searches of the past and layout passes, since
 * most events are alone in their synchronization point and have at most one edge.  It is made
 * from a block on first use and kept with the block. */
#ifndef SERVER_ORDER_LOG_EVENT_SUMMARY_H
#define SERVER_ORDER_LOG_EVENT_SUMMARY_H

#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"

/* Instead of an edge: the row and its neighbors must be examined. */
#define EVENT_SUMMARY_CHECK UINT32_MAX

struct event_summary {
    /* The summary has rows 0 .. known - 1, never the last one: whether that is alone in its point
     * depends on the next row. */
    uint32_t known;
    uint32_t line[BLOCK_EVENTS]; /* block_line_code */
    uint32_t edge[BLOCK_EVENTS]; /* like FIELD_EDGE, for one edge or none */
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

/* Returns whether rows i and i + 1, the members of one point, have at most one edge each, which
 * edge[] receives. */
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
