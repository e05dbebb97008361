#define _GNU_SOURCE
#include "server/order/log/line_table.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void line_array_free(struct order_line *lines, size_t room)
{
    if (lines)
        munmap(lines, room * sizeof *lines);
}

/* Makes space for one more line; lines are aligned to cache lines. Large arrays are not copied:
 * mremap() moves their pages. */
static struct order_line *grow_lines(struct order_line *lines, size_t *room, size_t count)
{
    if (count < *room)
        return lines;
    size_t before = *room * sizeof *lines;
    *room = *room ? 2 * *room : 32;
    size_t bytes = *room * sizeof *lines;
    struct order_line *more =
        before ? mremap(lines, before, bytes, MREMAP_MAYMOVE)
               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        out_of_memory(bytes);
    return more;
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->has_shared |= shared;
    order->lines = grow_lines(order->lines, &order->line_room, order->line_count);
    order->lines[order->line_count++] = (struct order_line){.shared = shared,
                                                            .kind = kind,
                                                            .last = NO_POSITION,
                                                            .tied = NO_POSITION,
                                                            .more = &line_more_empty};
    line_pages_new_line(order, (uint32_t)order->line_count);
    return (uint32_t)order->line_count;
}

struct order_line *line_new_hidden(struct order *order, uint32_t kind, uint32_t *number)
{
    order->hidden = grow_lines(order->hidden, &order->hidden_room, order->hidden_count);
    struct order_line *line = &order->hidden[order->hidden_count++];
    *line = (struct order_line){
        .kind = kind, .last = NO_POSITION, .tied = NO_POSITION, .more = &line_more_empty};
    *number = HIDDEN_LINE | (uint32_t)order->hidden_count;
    line_pages_new_line(order, *number);
    return line;
}
