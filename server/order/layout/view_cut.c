/* The cut at which a view begins: an anchor, changed by line moves. */
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/layout/column_assignment.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

struct layout_cut_state {
    const struct order *order;
    uint64_t *cut;
    size_t lines;
    uint64_t *work; /* positions whose causes are not followed yet */
    size_t work_count, work_room;
};

static uint64_t *cut_of(struct layout_cut_state *c, uint32_t line)
{
    return &c->cut[line & HIDDEN_LINE ? c->lines + (line & ~HIDDEN_LINE) - 1 : line - 1];
}

static uint32_t line_of_position(const struct order *order, uint64_t position)
{
    uint32_t line = block_line_of(log_get(order, position, FIELD_LINE));
    return line_get(order, line) ? line : 0;
}

/* ---- forwards: an event that is moved to the left takes its past along ---- */

static void push_out(struct layout_cut_state *c, uint64_t position)
{
    uint32_t line = line_of_position(c->order, position);
    if (!line || position < *cut_of(c, line))
        return;
    c->work = array_reserve(c->work, &c->work_room, c->work_count + 1, sizeof *c->work);
    c->work[c->work_count++] = position;
}

static void follow_causes(struct layout_cut_state *c, uint64_t position)
{
    struct block_edges edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        push_out(c, position - block_edge(&edges, i));
        if (edges.more)
            edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    }
    uint64_t first = position - log_get(c->order, position, FIELD_POINT);
    uint64_t end = order_point_end(c->order, position);
    for (uint64_t p = first; p <= end && first < end; p++)
        push_out(c, p);
}

static void move_forwards(struct layout_cut_state *c, uint32_t line, uint64_t events)
{
    uint64_t at = order_line_from(c->order, line, *cut_of(c, line));
    uint64_t n = order_line_events(c->order, line);
    if (at >= n)
        return;
    push_out(c, order_line_at(c->order, line, events < n - at ? at + events - 1 : n - 1));
    while (c->work_count) {
        uint64_t position = c->work[--c->work_count];
        uint32_t on = line_of_position(c->order, position);
        uint64_t *cut = cut_of(c, on), old = *cut;
        if (position < old)
            continue;
        /* left of the cut now: all of the line up to here, and what it follows */
        *cut = position + 1;
        for (uint64_t p = position; p >= old && p < c->order->log.count;) {
            follow_causes(c, p);
            uint64_t back = log_get(c->order, p, FIELD_PREVIOUS);
            if (back == 0 || back > p)
                break;
            p -= back;
        }
    }
}

/* ---- backwards: an event that is moved to the right takes its future along ---- */

static bool is_right(struct layout_cut_state *c, uint64_t position)
{
    uint32_t line = line_of_position(c->order, position);
    return line && position >= *cut_of(c, line);
}

static bool layout_cut_must_precede(struct layout_cut_state *c, uint64_t position)
{
    if (is_right(c, position))
        return true;
    struct block_edges edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        if (is_right(c, position - block_edge(&edges, i)))
            return true;
        if (edges.more)
            edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    }
    return false;
}

static void move_backwards(struct layout_cut_state *c, uint32_t line, uint64_t events)
{
    uint64_t at = order_line_from(c->order, line, *cut_of(c, line));
    uint64_t first = order_line_first(c->order, line), limit = 0;
    if (at <= first)
        return;
    uint64_t to = order_line_at(c->order, line, at - first > events ? at - events : first);
    if (to == NO_POSITION)
        return;
    for (size_t i = 0; i < c->lines + c->order->lines.hidden.count; i++)
        limit = c->cut[i] > limit ? c->cut[i] : limit;
    *cut_of(c, line) = to;
    to -= log_get(c->order, to, FIELD_POINT);
    for (uint64_t p = to, end; p < limit && p < c->order->log.count; p = end + 1) {
        bool comes = false;
        end = order_point_end(c->order, p);
        for (uint64_t q = p; q <= end && !comes; q++)
            comes = layout_cut_must_precede(c, q);
        for (uint64_t q = p; q <= end && comes; q++) {
            uint32_t on = line_of_position(c->order, q);
            if (on && *cut_of(c, on) > q)
                *cut_of(c, on) = q;
        }
    }
}

uint64_t *layout_cut(const struct order *order, const struct layout_params *placing)
{
    size_t room = 0;
    struct layout_cut_state c = {.order = order, .lines = order_line_count(order)};
    c.cut = array_reserve(NULL, &room, c.lines + order->lines.hidden.count + 1, sizeof *c.cut);
    for (size_t i = 0; i < c.lines + order->lines.hidden.count; i++)
        c.cut[i] = placing->anchor;
    for (size_t i = 0; i < placing->move_count; i++) {
        struct line_move move = placing->moves[i];
        if (!move.line || move.line > c.lines)
            continue;
        int64_t by = move.events;
        if (move.to)
            by -= (int64_t)order_line_from(order, move.line, *cut_of(&c, move.line));
        if (by > 0)
            move_forwards(&c, move.line, (uint64_t)by);
        else if (by < 0)
            move_backwards(&c, move.line, 0 - (uint64_t)by);
    }
    free(c.work);
    return c.cut;
}
