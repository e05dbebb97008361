/* The log of delivered events. */
#ifndef SERVER_ORDER_LOG_EVENT_LOG_H
#define SERVER_ORDER_LOG_EVENT_LOG_H

#include "server/order/log/line_table.h"
#include "server/order/order.h"
#include "server/order/order_state.h"

const struct log_block *log_load(const struct order *order, uint64_t block);

static inline const struct log_block *log_block(const struct order *order, uint64_t position)
{
    struct log_block *rows = order->log.blocks[position / BLOCK_EVENTS].rows;
    if (!rows)
        return log_load(order, position / BLOCK_EVENTS);
    rows->used = true;
    return rows;
}

static inline uint64_t log_get(const struct order *order, uint64_t position, enum block_field field)
{
    return block_get(log_block(order, position), position % BLOCK_EVENTS, field);
}

static inline unsigned log_relation(const struct order *order, uint64_t position)
{
    return log_get(order, position, FIELD_FLAGS) & FIELD_RELATION;
}

static inline bool flags_send(uint64_t flags)
{
    return flags & FIELD_SENDS || (flags & FIELD_RELATION) == RELATION_SEND;
}

static inline bool log_sends(const struct order *order, uint64_t position)
{
    return flags_send(log_get(order, position, FIELD_FLAGS));
}

#ifndef SENT_BLOCKS /* tests make it small */
#define SENT_BLOCKS 256u
#endif

/* Returns whether the event is known to be a consistent send of one of the last SENT_BLOCKS packed
 * blocks.  False: the row must be read. */
static inline bool log_is_recent_send(const struct event_log *log, uint64_t position)
{
    uint64_t block = position / BLOCK_EVENTS;
    uint32_t i = position % BLOCK_EVENTS;
    return log->sent.bits && block < log->packed && block >= log->sent.from &&
           log->packed - block <= SENT_BLOCKS &&
           log->sent.bits[block % SENT_BLOCKS * (BLOCK_EVENTS / 8) + i / 8] >> i % 8 & 1;
}

/* Returns order_position(at), by a fast path for recent events of lines without gaps, where numbers
 * are ordinals. */
static inline uint64_t log_position(const struct order *order, struct event_id at)
{
    const struct order_line *line = line_get(order, at.line);
    if (!line || line->has_gaps || order->log.first || at.number - 1 >= line->positions.count)
        return order_position(order, at);
    if (at.number == line->positions.count)
        return line->last;
    uint64_t i = at.number - 1;
    return i >> POSITION_LIST_BITS == line->positions.count >> POSITION_LIST_BITS
               ? line->positions.tail[i & (POSITION_LIST_NODE - 1)]
               : order_position(order, at);
}

/* Appends an event. edges: positions, those of the sends that it receives first. lines: the
 * lines of the edges, or NULL to look them up. */
void log_append(struct order *order, const struct order_event *event, const uint64_t *edges,
                const uint32_t *lines);
void log_set(struct order *order, uint64_t position, enum block_field field, uint64_t value);
void log_gap(struct order *order, uint32_t line, uint64_t count);
/* Records a gap that was not reported: no pending event can have these numbers any more. */
void log_gap_found(struct order *order, uint32_t line, uint64_t count);
/* Records that numbers are not in this part of an execution (known_events.h): nothing was lost. */
void log_leave_out(struct order *order, uint32_t line, uint64_t count);
/* Returns the position of the event that stands for `at` in the order: `at` itself, or if it is
 * lost or inconsistent, the event before it on its exclusive line; else NO_POSITION. *lost is
 * set if it is lost. */
uint64_t log_relation_state(const struct order *order, struct event_id at, bool *lost);
/* Packs the oldest open block, which must be full. */
void log_pack_one(struct order *order);
void event_log_free(struct event_log *log);

#endif
