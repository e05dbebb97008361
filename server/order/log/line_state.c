#define _GNU_SOURCE
#include "server/order/log/line_state.h"

#include "base/alloc.h"
#include "server/order/log/position_list.h"

#include <stdlib.h>
#include <string.h>

struct line_more line_more_empty;

struct line_more *line_more(struct order_line *line)
{
    if (line->more == &line_more_empty) {
        line->more = xaligned_alloc(_Alignof(struct line_more), sizeof *line->more);
        *line->more = (struct line_more){0};
    }
    return line->more;
}

void line_add_neighbor(struct order_line *line, uint32_t other)
{
    unsigned n = line->neighbour_count++;
    if (n < NEIGHBOURS_NEAR) {
        line->neighbours.near[n] = other;
        return;
    }
    if (n == NEIGHBOURS_NEAR || (n & (n - 1)) == 0) {
        uint32_t *before = n == NEIGHBOURS_NEAR ? NULL : line->neighbours.far;
        uint32_t *list = xmalloc(2 * n * sizeof *list);
        memcpy(list, before ? before : line->neighbours.near, n * sizeof *list);
        free(before);
        line->neighbours.far = list;
    }
    line->neighbours.far[n] = other;
}

void line_clear_neighbors(struct order_line *line)
{
    if (line->neighbour_count > NEIGHBOURS_NEAR)
        free(line->neighbours.far);
    line->neighbour_count = 0;
}

void line_free(struct order_line *line)
{
    position_list_free(&line->positions);
    line_clear_neighbors(line);
    if (line->more == &line_more_empty)
        return;
    free(line->more->gaps);
    free(line->more->waiters);
    free(line->more->occupants);
    free(line->more->collectors);
    free(line->more);
}

void line_trim(struct order_line *line)
{
    struct line_more *more = line->more;
    if (more == &line_more_empty)
        return;
    if (line->occupant_count == 0) {
        free(more->occupants);
        more->occupants = NULL;
        more->occupant_room = 0;
    }
    if (line->pending == 0) {
        free(more->ring.items);
        more->ring = (struct pending_ring){0};
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
    line->more = &line_more_empty;
}
