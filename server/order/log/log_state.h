/* The parts of an order that server/order/log owns. Each part names the file that writes it. */
#ifndef SERVER_ORDER_LOG_LOG_STATE_H
#define SERVER_ORDER_LOG_LOG_STATE_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct order_line;

/* Lines, by number - 1. */
struct line_array {
    struct order_line *items;
    size_t count, room;
};

/* All lines; line_table.c adds them, line_eviction.c frees the memory of some. */
struct line_table {
    struct line_array visible, hidden;
    bool has_shared; /* some line is shared */
    size_t next_trim; /* event_log.c: the next visible line to examine, whether it can be trimmed */
};

/* The visible lines that are not in memory; line_eviction.c writes it. */
struct evicted_lines {
    uint16_t *codes; /* by index of a line, 0: in memory, else 1 + its pattern */
    size_t room, count;
    struct order_line *patterns;
    size_t pattern_count, pattern_room;
    struct map pattern_codes;
};

#endif
