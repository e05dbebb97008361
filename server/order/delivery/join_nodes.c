/* Hidden lines: on a shared line, an event comes after every earlier one of the types in its
 * type's `after` set.  A hidden line collects those, so that the edges stay linear in number. */
#include "server/order/delivery/join_nodes.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_pages.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

static struct collector *collector_for(struct order *order, uint32_t number_of_line, uint32_t type)
{
    struct order_line *line = line_get(order, number_of_line);
    for (size_t i = 0; i < line->more->collector_count; i++)
        if (line->more->collectors[i].type == type)
            return &line->more->collectors[i];
    struct line_more *more = line_more(line);
    more->collectors = array_reserve(more->collectors, &more->collector_room,
                                     more->collector_count + 1, sizeof *more->collectors);
    struct collector *collector = &more->collectors[more->collector_count++];
    *collector = (struct collector){.type = type};
    return collector;
}

struct new_collected {
    uint64_t *positions;
    size_t count, room;
    int64_t time_ns;
};

/* Finds the events of the type that were not collected yet. */
static struct new_collected find_new(struct order *order, uint32_t number_of_line,
                                     struct collector *collector)
{
    const struct order_line *line = line_get(order, number_of_line);
    struct new_collected found = {.time_ns = INT64_MIN};
    if (collector->ordinal < line->base)
        collector->ordinal = line->base;
    for (; collector->ordinal < line->positions.count; collector->ordinal++) {
        uint64_t position = order_line_at(order, number_of_line, collector->ordinal);
        if (position == NO_POSITION || log_get(order, position, FIELD_TYPE) != collector->type ||
            log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
            continue;
        int64_t time = (int64_t)(log_get(order, position, FIELD_TIME) - FIELD_TIME_BIAS);
        found.time_ns = time > found.time_ns ? time : found.time_ns;
        found.positions =
            array_reserve(found.positions, &found.room, found.count + 1, sizeof *found.positions);
        found.positions[found.count++] = position;
    }
    return found;
}

/* Were numbers lost on the line since the collector was updated? Some of them may have been of its
 * type. */
static bool has_new_gap(const struct order_line *line, const struct collector *collector)
{
    if (!line->more->gap_count)
        return false;
    uint64_t last = line->more->gaps[line->more->gap_count - 1].ordinal;
    return last > collector->ordinal || (last == collector->ordinal && !collector->hidden);
}

/* Updates one collector. Returns the position of its newest hidden event, or NO_POSITION. */
static uint64_t join_nodes_update_collector(struct order *order, uint32_t number_of_line,
                                            uint32_t type)
{
    line_touch(order, number_of_line);
    struct collector *collector = collector_for(order, number_of_line, type);
    bool gap = has_new_gap(line_get(order, number_of_line), collector);
    struct new_collected found = find_new(order, number_of_line, collector);
    if (found.count || gap) {
        uint32_t kind = line_get(order, number_of_line)->kind;
        if (!collector->hidden)
            line_new_hidden(order, kind, &collector->hidden);
        struct order_event event = {.line = collector->hidden,
                                    .number = line_get(order, collector->hidden)->delivered + 1,
                                    .time_ns = found.count ? found.time_ns : 0,
                                    .point = order->log.count,
                                    .type = type,
                                    .relation = RELATION_ORDER,
                                    .edge_count = (uint32_t)found.count,
                                    .doubt = gap ? UNTRACED_LOST : UNTRACED_NONE};
        log_append(order, &event, found.positions, NULL);
        free(found.positions);
    }
    const struct order_line *hidden = collector->hidden ? line_get(order, collector->hidden) : NULL;
    return hidden && line_has_kept(order, hidden) ? hidden->last : NO_POSITION;
}

size_t join_nodes_update(struct order *order, uint32_t line, uint32_t type, uint64_t *edges,
                         size_t room)
{
    size_t count = 0;
    if (type >= order->after.room || !line_get(order, line)->shared)
        return 0;
    for (size_t i = 0; i < order->after.sets[type].count && count < room; i++) {
        uint64_t from = join_nodes_update_collector(order, line, order->after.sets[type].items[i]);
        if (from != NO_POSITION)
            edges[count++] = from;
    }
    return count;
}
