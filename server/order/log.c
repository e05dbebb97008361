#include "server/order/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line *order_get(const struct order *order, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < order->hidden_count ? &order->hidden[i] : NULL;
    return i < order->line_count ? &order->lines[i] : NULL;
}

static void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    return p;
}

static struct event *at(const struct order *order, uint64_t position)
{
    return &order->chunks[position / CHUNK_EVENTS][position % CHUNK_EVENTS];
}

struct event *log_append(struct order *order, uint32_t number_of_line, uint64_t number)
{
    size_t chunk = order->count / CHUNK_EVENTS;
    if (order->count % CHUNK_EVENTS == 0) {
        order->chunks =
            grow(order->chunks, &order->chunk_room, chunk + 1, sizeof *order->chunks);
        order->chunks[chunk] = allocate(CHUNK_EVENTS * sizeof(struct event));
        order->starts = grow(order->starts, &order->start_room, chunk + 1, sizeof *order->starts);
        order->starts[chunk] = (struct chunk_start){order->edge_count, order->link_count};
    }
    struct line *line = order_get(order, number_of_line);
    line->positions =
        grow(line->positions, &line->room, line->count - line->base + 1, sizeof *line->positions);
    line->positions[line->count++ - line->base] = order->count;
    line->delivered = number;
    struct event *event = at(order, order->count);
    event->line = number_of_line;
    event->number = number;
    event->point = order->count++;
    event->edges = order->edge_count;
    if (number_of_line & HIDDEN_LINE)
        order->figures.hidden_events++;
    else
        order->figures.events++;
    return event;
}

void log_edge(struct order *order, struct event *event, uint64_t from)
{
    if (from == NO_POSITION)
        return;
    order->edges = grow(order->edges, &order->edge_room, order->edge_count - order->edge_base + 1,
                        sizeof *order->edges);
    order->edges[order->edge_count++ - order->edge_base] = from;
    event->edge_count++;
}

void log_receive(struct order *order, struct event *receive, uint64_t send)
{
    log_edge(order, receive, send);
    receive->send_count++;
    if (order->link_count == 0)
        order->link_count = 2; /* index 0 ends a list */
    order->links = grow(order->links, &order->link_room, order->link_count - order->link_base + 2,
                        sizeof *order->links);
    uint64_t *link = order->links + (order->link_count - order->link_base);
    link[0] = order->count - 1; /* the receive is the newest event of the log */
    link[1] = at(order, send)->receives;
    at(order, send)->receives = order->link_count;
    order->link_count += 2;
}

void log_gap(struct order *order, uint32_t number_of_line, uint64_t count)
{
    struct line *line = order_get(order, number_of_line);
    struct gap *last = line->gap_count ? &line->gaps[line->gap_count - 1] : NULL;
    if (last && last->ordinal == line->count) {
        last->count += count;
    } else {
        line->gaps =
            grow(line->gaps, &line->gap_room, line->gap_count + 1, sizeof *line->gaps);
        line->gaps[line->gap_count++] =
            (struct gap){line->delivered + 1, count, line->count};
    }
    line->delivered += count;
    order->figures.lost += count;
}

/* Ordinal of a number, or of the event before it if it was lost (*exact false);
 * UINT64_MAX if there is none. */
static uint64_t ordinal_of(const struct line *line, uint64_t number, bool *exact)
{
    uint64_t missing = 0;
    *exact = true;
    for (size_t low = 0, high = line->gap_count; low < high;) {
        size_t i = (low + high) / 2;
        const struct gap *gap = &line->gaps[i];
        if (number < gap->first) {
            high = i;
        } else {
            missing = gap->first + gap->count - 1 - gap->ordinal;
            if (number < gap->first + gap->count) {
                *exact = false;
                return gap->ordinal - 1;
            }
            low = i + 1;
        }
    }
    return number - 1 - missing;
}

uint64_t order_position(const struct order *order, struct ref ref)
{
    const struct line *line = order_get(order, ref.line);
    if (!line || ref.number == 0 || ref.number > line->delivered)
        return NO_POSITION;
    bool exact;
    uint64_t ordinal = ordinal_of(line, ref.number, &exact);
    return exact && ordinal >= line->base && ordinal < line->count
               ? line->positions[ordinal - line->base]
               : NO_POSITION;
}

uint64_t log_standing(const struct order *order, struct ref ref)
{
    const struct line *line = order_get(order, ref.line);
    if (!line || ref.number == 0 || ref.number > line->delivered)
        return NO_POSITION;
    bool exact;
    uint64_t ordinal = ordinal_of(line, ref.number, &exact);
    if (line->shared && !exact)
        return NO_POSITION;
    for (; ordinal >= line->base && ordinal < line->count; ordinal--) {
        uint64_t position = line->positions[ordinal - line->base];
        if (at(order, position)->state == EVENT_ORDERED)
            return position;
        if (line->shared)
            break;
    }
    return NO_POSITION;
}

static struct collector *collector_for(struct order *order, uint32_t number_of_line, uint32_t type)
{
    struct line *line = order_get(order, number_of_line);
    for (size_t i = 0; i < line->collector_count; i++)
        if (line->collectors[i].type == type)
            return &line->collectors[i];
    line->collectors = grow(line->collectors, &line->collector_room, line->collector_count + 1,
                            sizeof *line->collectors);
    struct collector *collector = &line->collectors[line->collector_count++];
    *collector = (struct collector){.type = type};
    return collector;
}

/* Brings one collector up to date; its newest hidden event or NO_POSITION. */
static uint64_t collect(struct order *order, uint32_t number_of_line, uint32_t type)
{
    struct collector *collector = collector_for(order, number_of_line, type);
    struct event *hidden = NULL;
    if (collector->ordinal < order_get(order, number_of_line)->base)
        collector->ordinal = order_get(order, number_of_line)->base;
    for (; collector->ordinal < order_get(order, number_of_line)->count; collector->ordinal++) {
        uint64_t position = order_line_at(order, number_of_line, collector->ordinal);
        if (at(order, position)->type != type || at(order, position)->state != EVENT_ORDERED)
            continue;
        if (!collector->hidden) {
            order->hidden = grow(order->hidden, &order->hidden_room, order->hidden_count + 1,
                                 sizeof *order->hidden);
            order->hidden[order->hidden_count++] = (struct line){
                .kind = order_get(order, number_of_line)->kind, .opened_by = {0, 0}};
            collector->hidden = HIDDEN_LINE | (uint32_t)order->hidden_count;
        }
        if (!hidden) {
            struct line *line = order_get(order, collector->hidden);
            struct event *from = at(order, position);
            int64_t time = from->time_ns;
            hidden = log_append(order, collector->hidden, line->delivered + 1);
            hidden->type = type;
            hidden->relation = RELATION_ORDER;
            hidden->time_ns = time;
        }
        log_edge(order, hidden, position);
        if (at(order, position)->time_ns > hidden->time_ns)
            hidden->time_ns = at(order, position)->time_ns;
    }
    if (!collector->hidden)
        return NO_POSITION;
    const struct line *line = order_get(order, collector->hidden);
    return line->count > line->base ? line->positions[line->count - 1 - line->base] : NO_POSITION;
}

size_t log_collect(struct order *order, uint32_t line, uint32_t type, uint64_t *edges, size_t room)
{
    size_t count = 0;
    if (type >= order->after_room || !order_get(order, line)->shared)
        return 0;
    for (size_t i = 0; i < order->after[type].count && count < room; i++) {
        uint64_t from = collect(order, line, order->after[type].items[i]);
        if (from != NO_POSITION)
            edges[count++] = from;
    }
    return count;
}

uint64_t order_count(const struct order *order) { return order->count; }

const struct event *order_event(const struct order *order, uint64_t position)
{
    return at(order, position);
}

const uint64_t *order_edges(const struct order *order, const struct event *event)
{
    return order->edges + (event->edges - order->edge_base);
}

uint64_t order_receives(const struct order *order, uint64_t *cursor)
{
    const uint64_t *link = order->links + (*cursor - order->link_base);
    uint64_t position = link[0];
    *cursor = link[1];
    return position;
}

uint32_t order_lines(const struct order *order) { return (uint32_t)order->line_count; }
uint32_t order_hidden_lines(const struct order *order) { return (uint32_t)order->hidden_count; }

bool order_line_shared(const struct order *order, uint32_t line)
{
    return order_get(order, line)->shared;
}

bool order_line_closed(const struct order *order, uint32_t line)
{
    return order_get(order, line)->closed;
}

uint32_t order_line_kind(const struct order *order, uint32_t line)
{
    return order_get(order, line)->kind;
}

struct ref order_line_opened_by(const struct order *order, uint32_t line)
{
    return order_get(order, line)->opened_by;
}

uint64_t order_line_events(const struct order *order, uint32_t line)
{
    return order_get(order, line)->count;
}

uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    const struct line *l = order_get(order, line);
    return l->positions[ordinal - l->base];
}

uint64_t order_line_from(const struct order *order, uint32_t number_of_line, uint64_t position)
{
    const struct line *line = order_get(order, number_of_line);
    uint64_t low = line->base, high = line->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (line->positions[middle - line->base] < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool order_line_gap(const struct order *order, uint32_t number_of_line, size_t i, uint64_t *first,
                    uint64_t *count)
{
    const struct line *line = order_get(order, number_of_line);
    if (i >= line->gap_count)
        return false;
    *first = line->gaps[i].first;
    *count = line->gaps[i].count;
    return true;
}

uint64_t order_point_end(const struct order *order, uint64_t position)
{
    uint64_t point = at(order, position)->point;
    while (position + 1 < order->count && at(order, position + 1)->point == point)
        position++;
    return position;
}
