#define _GNU_SOURCE
#include "server/order/log/lines.h"

#include "memory/memory.h"
#include "server/order/log/block.h"
#include "server/order/log/pages.h"
#include "server/order/log/series.h"
#include "server/order/order.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct line_more line_nothing;

struct line_more *line_more(struct line *line)
{
    if (line->more == &line_nothing) {
        line->more = memory_aligned(_Alignof(struct line_more), sizeof *line->more);
        *line->more = (struct line_more){0};
    }
    return line->more;
}

void line_add_neighbour(struct line *line, uint32_t other)
{
    unsigned n = line->neighbour_count++;
    if (n < NEIGHBOURS_NEAR) {
        line->neighbours.near[n] = other;
        return;
    }
    if (n == NEIGHBOURS_NEAR || (n & (n - 1)) == 0) {
        uint32_t *before = n == NEIGHBOURS_NEAR ? NULL : line->neighbours.far;
        uint32_t *list = memory_bytes(2 * n * sizeof *list);
        memcpy(list, before ? before : line->neighbours.near, n * sizeof *list);
        free(before);
        line->neighbours.far = list;
    }
    line->neighbours.far[n] = other;
}

void line_forget_neighbours(struct line *line)
{
    if (line->neighbour_count > NEIGHBOURS_NEAR)
        free(line->neighbours.far);
    line->neighbour_count = 0;
}

void line_free(struct line *line)
{
    series_free(&line->positions);
    line_forget_neighbours(line);
    if (line->more == &line_nothing)
        return;
    free(line->more->gaps);
    free(line->more->waiters);
    free(line->more->occupants);
    free(line->more->collectors);
    free(line->more);
}

void line_array_free(struct line *lines, size_t room)
{
    if (lines)
        munmap(lines, room * sizeof *lines);
}

/* Room for one more; lines lie at cache lines.  Many are not copied: their pages move. */
static struct line *grow_lines(struct line *lines, size_t *room, size_t count)
{
    if (count < *room)
        return lines;
    size_t before = *room * sizeof *lines;
    *room = *room ? 2 * *room : 32;
    size_t bytes = *room * sizeof *lines;
    struct line *more =
        before ? mremap(lines, before, bytes, MREMAP_MAYMOVE)
               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED)
        memory_is_out(bytes);
    return more;
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->has_shared |= shared;
    order->lines = grow_lines(order->lines, &order->line_room, order->line_count);
    order->lines[order->line_count++] = (struct line){.shared = shared,
                                                      .kind = kind,
                                                      .last = NO_POSITION,
                                                      .tied = NO_POSITION,
                                                      .more = &line_nothing};
    pages_new_line(order, (uint32_t)order->line_count);
    return (uint32_t)order->line_count;
}

struct line *line_new_hidden(struct order *order, uint32_t kind, uint32_t *number)
{
    order->hidden = grow_lines(order->hidden, &order->hidden_room, order->hidden_count);
    struct line *line = &order->hidden[order->hidden_count++];
    *line = (struct line){
        .kind = kind, .last = NO_POSITION, .tied = NO_POSITION, .more = &line_nothing};
    *number = HIDDEN_LINE | (uint32_t)order->hidden_count;
    pages_new_line(order, *number);
    return line;
}

void line_trim(struct line *line)
{
    struct line_more *more = line->more;
    if (more == &line_nothing)
        return;
    if (line->occupant_count == 0) {
        free(more->occupants);
        more->occupants = NULL;
        more->occupant_room = 0;
    }
    if (line->pending == 0) {
        free(more->ring.items);
        more->ring = (struct ring){0};
    }
    if (line->waiter_count == 0) {
        free(more->waiters);
        more->waiters = NULL;
        more->waiter_room = 0;
    }
    if (line->occupant_count || line->pending || line->waiter_count || more->gap_count ||
        more->collector_count || more->wait.line || more->spill || more->far ||
        line->closed == LINE_CLOSING)
        return;
    free(more->gaps);
    free(more->collectors);
    free(more);
    line->more = &line_nothing;
}
