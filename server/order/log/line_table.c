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

void line_array_free(struct line_array *lines)
{
    if (lines->items)
        munmap(lines->items, lines->room * sizeof *lines->items);
}

/* Returns the place of one more line; lines are aligned to cache lines. Large arrays are not
 * copied: mremap() moves their pages. */
static struct order_line *line_array_add(struct line_array *lines)
{
    if (lines->count < lines->room)
        return &lines->items[lines->count++];
    size_t before = lines->room * sizeof *lines->items;
    lines->room = lines->room ? 2 * lines->room : 32;
    size_t bytes = lines->room * sizeof *lines->items;
    struct order_line *more =
        before ? mremap(lines->items, before, bytes, MREMAP_MAYMOVE)
               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        out_of_memory(bytes);
    lines->items = more;
    return &lines->items[lines->count++];
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->lines.has_shared |= shared;
    *line_array_add(&order->lines.visible) = (struct order_line){.shared = shared,
                                                                 .kind = kind,
                                                                 .last = NO_POSITION,
                                                                 .tied = NO_POSITION,
                                                                 .more = &line_more_empty};
    line_pages_new_line(order, (uint32_t)order->lines.visible.count);
    return (uint32_t)order->lines.visible.count;
}

struct order_line *line_new_hidden(struct order *order, uint32_t kind, uint32_t *number)
{
    struct order_line *line = line_array_add(&order->lines.hidden);
    *line = (struct order_line){
        .kind = kind, .last = NO_POSITION, .tied = NO_POSITION, .more = &line_more_empty};
    *number = HIDDEN_LINE | (uint32_t)order->lines.hidden.count;
    line_pages_new_line(order, *number);
    return line;
}
