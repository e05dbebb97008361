/* The parts of an order that server/order/log owns. The comment above each part names the file that
 * writes it. */
#ifndef SERVER_ORDER_LOG_LOG_STATE_H
#define SERVER_ORDER_LOG_LOG_STATE_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct log_block;
struct order_line;
struct uncertainty;

/* Lines, by number - 1. */
struct line_array {
    struct order_line *items;
    size_t count, room;
};

/* All lines; line_table.c adds them, and frees the memory of some. */
struct line_table {
    struct line_array visible, hidden;
    bool has_shared; /* some line is shared */
    size_t next_trim; /* event_log.c: the next visible line to examine, whether it can be trimmed */
};

/* The visible lines that are not in memory; line_table.c writes it. */
struct evicted_lines {
    uint16_t *codes; /* by index of a line, 0: in memory, else 1 + its pattern */
    size_t room, count;
    struct order_line *patterns;
    size_t pattern_count, pattern_room;
    struct map pattern_codes;
};

/* Marks of a page: it is to be saved; it is part of the save in progress. */
enum { PAGE_TOUCHED = 1, PAGE_FROZEN = 2 };

/* The marks of pages of lines: which of them the next save has to write; line_pages.c writes it. */
struct line_pages {
    uint8_t *marks; /* PAGE_TOUCHED, PAGE_FROZEN */
    struct line_page_entry {
        uint64_t place; /* in the block store, 0: not saved yet */
    } *items;
    size_t count, room;
};

/* Bit set of the sends among the events of the last packed blocks: a late receive names one of
 * them, and its block need not be re-read for that.  It has one bit per event of SENT_BLOCKS blocks
 * and is not saved; event_log.c writes it. */
struct recent_sends {
    uint8_t *bits; /* NULL: no block was packed since the order was made */
    uint64_t from; /* the first block that it knows */
};

/* The packed blocks in memory; event_log.c evicts them. */
struct block_cache {
    uint32_t *list;
    size_t count, room, hand, bytes, limit;
};

/* The blocks that could not be read; event_log.c adds them. */
struct unreadable_blocks {
    struct log_block *rows; /* stands for each of them */
    uint64_t *blocks, count; /* which ones */
    size_t room;
    uint64_t first_place; /* of the first one that was found */
};

/* The delivered events, in blocks of BLOCK_EVENTS positions; event_log.c adds to it,
 * order.c moves its begin. */
struct event_log {
    struct kept_block {
        struct log_block *rows; /* NULL: in the block store only */
        uint64_t place; /* 0: open */
    } *blocks;
    uint64_t count, first; /* first: the first position that is kept */
    uint64_t packed; /* blocks before this one are in the block store */
    struct recent_sends sent;
    size_t block_room;
    struct log_block *spare; /* a block for reuse */
    struct block_cache cache;
    struct unreadable_blocks unreadable;
    uint64_t partners_lost;
    uint32_t newest_line; /* of the newest event, while its point is appended */
    uint64_t point_spread_ns; /* the greatest time between two members of a point */
};

/* Receives of sends without room for them in their rows; late_receives.c adds them. */
struct late_receives {
    struct map newest; /* send -> 1 + its newest one in `items` */
    struct late_receive {
        uint64_t send, receive;
        size_t next; /* of the same send; the newest is followed by the oldest */
    } *items;
    size_t count, room;
};

/* The uncertain events; event_log.c counts them. */
struct uncertain_events {
    uint64_t count, first; /* first: the position of the first one */
    uint32_t reasons, discarded_reasons; /* bits: of them all; of the discarded ones */
    struct uncertainty *past_sets; /* uncertainty.c; NULL: not computed yet */
};

#endif
