/* Scans of the log that read a field or two of each event, or find parts that are unreadable. */

#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"

uint64_t order_about_before(const struct order *order, uint64_t position, uint64_t least,
                            const uint8_t *wanted, uint32_t lines)
{
    if (least < order->log.first)
        least = order->log.first;
    while (position > least) {
        uint64_t first = (position - 1) / BLOCK_EVENTS * BLOCK_EVENTS;
        const struct log_block *rows = log_block(order, position - 1);
        for (uint64_t end = first > least ? first : least; position > end; position--) {
            uint64_t about = block_get(rows, (uint32_t)(position - 1 - first), FIELD_ABOUT);
            if (about && about <= lines && wanted[about - 1])
                return position - 1;
        }
    }
    return NO_POSITION;
}

void order_count_types(const struct order *order, uint64_t from, uint64_t end, uint64_t *counts,
                       uint32_t types)
{
    while (from < end) {
        const struct log_block *rows = log_block(order, from);
        uint64_t first = from / BLOCK_EVENTS * BLOCK_EVENTS;
        uint64_t until = first + BLOCK_EVENTS < end ? first + BLOCK_EVENTS : end;
        for (; from < until; from++) {
            uint32_t i = (uint32_t)(from - first);
            uint64_t type = block_get(rows, i, FIELD_TYPE);
            if (type < types && !(block_get(rows, i, FIELD_LINE) & 1))
                counts[type]++;
        }
    }
}

void order_last_of_threads(const struct order *order, uint64_t from, uint64_t end, uint64_t *last,
                           uint32_t lines)
{
    while (from < end) {
        const struct log_block *rows = log_block(order, from);
        uint64_t first = from / BLOCK_EVENTS * BLOCK_EVENTS;
        uint64_t until = first + BLOCK_EVENTS < end ? first + BLOCK_EVENTS : end;
        for (; from < until; from++) {
            uint32_t i = (uint32_t)(from - first);
            uint64_t thread = block_get(rows, i, FIELD_THREAD);
            if (thread && thread <= lines && !(block_get(rows, i, FIELD_LINE) & 1) &&
                !(block_get(rows, i, FIELD_FLAGS) & FIELD_INCONSISTENT))
                last[thread - 1] = from + 1;
        }
    }
}

/* A column of consecutive rows: the address of the next value does not depend on the previous
 * one. */
struct log_scan_column {
    const uint8_t *at;
    struct block_layout layout;
};

static struct log_scan_column log_scan_open_column(const struct log_block *rows,
                                                   enum block_field field, uint32_t first)
{
    struct log_scan_column c = {.layout = rows->fields[field]};
    c.at = rows->bytes + c.layout.byte + (size_t)first * c.layout.step;
    return c;
}

static inline uint64_t log_scan_next_value(struct log_scan_column *c)
{
    uint64_t word;
    memcpy(&word, c->at, sizeof word);
    c->at += c->layout.step;
    return ((word >> c->layout.shift) & c->layout.mask) + c->layout.least;
}

/* Expands to a loop that sets a member of some events from a column; `value` is the current
 * value. */
#define READ(field, set)                                                                           \
    do {                                                                                           \
        struct log_scan_column c = log_scan_open_column(rows, field, first);                       \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            uint64_t value = log_scan_next_value(&c);                                              \
            events[i].set;                                                                         \
        }                                                                                          \
    } while (0)

static void read_flags(const struct log_block *rows, uint32_t first, uint32_t count,
                       struct order_event *events)
{
    struct log_scan_column c = log_scan_open_column(rows, FIELD_FLAGS, first);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t flags = log_scan_next_value(&c);
        struct order_event *e = &events[i];
        e->relation = flags & FIELD_RELATION;
        e->state = flags & FIELD_INCONSISTENT ? EVENT_CONTRADICTORY : EVENT_ORDERED;
        e->partner_lost = (flags & FIELD_PARTNER_LOST) != 0;
        e->opened = (flags & FIELD_OPENED) != 0;
        e->after_gap = (flags & FIELD_AFTER_GAP) != 0;
        e->sends = flags_send(flags);
        e->doubt = (uint8_t)(flags >> FIELD_UNCERTAINTY_SHIFT);
    }
}

static void read_edges(const struct log_block *rows, uint32_t first, uint32_t count,
                       struct order_event *events)
{
    struct log_scan_column c = log_scan_open_column(rows, FIELD_EDGE, first);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t edge = log_scan_next_value(&c);
        events[i].edge_count = edge != 0;
        events[i].send_count = (edge & 3) == 2;
        if ((edge & 3) != 3)
            continue;
        struct block_edges more = block_edges(rows, first + i);
        events[i].edge_count = more.count;
        events[i].send_count = more.sends;
    }
}

size_t order_read(const struct order *order, uint64_t position, size_t most,
                  struct order_event *events)
{
    const struct log_block *rows = log_block(order, position);
    uint32_t first = position % BLOCK_EVENTS, count = rows->count - first;
    count = count < most ? count : (uint32_t)most;
    READ(FIELD_NUMBER, number = value);
    READ(FIELD_TIME, time_ns = (int64_t)(value - FIELD_TIME_BIAS));
    READ(FIELD_POINT, point = position + i - (value > position + i ? position + i : value));
    READ(FIELD_LINE, line = block_line_of(value));
    READ(FIELD_THREAD, thread = (uint32_t)value);
    READ(FIELD_ABOUT, about = (uint32_t)value);
    READ(FIELD_SITE, site = (uint32_t)value);
    READ(FIELD_TYPE, type = (uint32_t)value);
    read_flags(rows, first, count, events);
    read_edges(rows, first, count, events);
    return count;
}

size_t order_read_times(const struct order *order, uint64_t position, size_t most,
                        struct event_time *events)
{
    const struct log_block *rows = log_block(order, position);
    uint32_t first = position % BLOCK_EVENTS, count = rows->count - first;
    count = count < most ? count : (uint32_t)most;
    READ(FIELD_TIME, time_ns = (int64_t)(value - FIELD_TIME_BIAS));
    READ(FIELD_LINE, line = block_line_of(value));
    READ(FIELD_THREAD, thread = (uint32_t)value);
    return count;
}

struct occupants order_occupants(const struct order *order, uint64_t position)
{
    const struct log_block *rows = log_block(order, position);
    uint32_t i = position % BLOCK_EVENTS;
    return (struct occupants){.active = (uint16_t)block_get(rows, i, FIELD_ACTIVE),
                              .blocked = (uint16_t)block_get(rows, i, FIELD_BLOCKED),
                              .away = (uint16_t)block_get(rows, i, FIELD_AWAY)};
}

uint64_t order_previous_of_thread(const struct order *order, uint64_t position, uint32_t most)
{
    uint64_t thread = log_get(order, position, FIELD_THREAD);
    for (uint32_t i = 0; i < most; i++) {
        uint64_t back = log_get(order, position, FIELD_PREVIOUS);
        if (!back || back > position || position - back < order->log.first)
            return NO_POSITION;
        position -= back;
        if (log_get(order, position, FIELD_THREAD) == thread)
            return position;
    }
    return NO_POSITION;
}

/* ---- unreadable parts of the block store, and the events that are lost with them ---- */

/* Returns the number of an event of a line from the gaps before it, without reading the event.
 * *until receives the ordinal of the next event that follows a gap. */
static uint64_t number_of(const struct order_line *line, uint64_t ordinal, uint64_t *until)
{
    uint64_t missing = 0;
    *until = UINT64_MAX;
    for (size_t i = 0; i < line->more->gap_count; i++) {
        if (line->more->gaps[i].ordinal > ordinal) {
            *until = line->more->gaps[i].ordinal;
            break;
        }
        missing += line->more->gaps[i].count;
    }
    return ordinal + 1 + missing;
}

void order_unreadable(const struct order *order, uint32_t number_of_line,
                      void (*visit)(void *context, uint64_t first, uint64_t count), void *context)
{
    const struct order_line *line = line_get(order, number_of_line);
    for (uint64_t i = 0; i < order->log.unreadable.count; i++) {
        uint64_t begin = order->log.unreadable.blocks[i] * BLOCK_EVENTS, until;
        uint64_t at = order_line_from(order, number_of_line, begin);
        uint64_t end = order_line_from(order, number_of_line, begin + BLOCK_EVENTS);
        while (at < end && at < line->positions.count) {
            uint64_t first = number_of(line, at, &until);
            until = until < end ? until : end;
            visit(context, first, until - at);
            at = until;
        }
    }
}

static void corruption_add_count(void *context, uint64_t first, uint64_t count)
{
    (void)first;
    *(uint64_t *)context += count;
}

uint64_t order_unreadable_events(const struct order *order)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i <= order->lines.visible.count && order->log.unreadable.count; i++)
        order_unreadable(order, i, corruption_add_count, &count);
    return count;
}

uint64_t order_first_damage(const struct order *order)
{
    return order->log.unreadable.first_place ? order->log.unreadable.first_place
                                             : order->nodes.first_damage;
}

static void verify_line(struct order *order, const struct order_line *line)
{
    for (uint64_t i = 0; i < line->positions.count; i += POSITION_LIST_NODE)
        if (i + POSITION_LIST_NODE > line->base)
            position_list_get(&line->positions, &order->nodes, i);
}

void order_verify(struct order *order)
{
    for (uint64_t i = order->log.first / BLOCK_EVENTS; i < order->log.packed; i++)
        if (!order->log.blocks[i].rows)
            log_load(order, i);
    for (size_t i = 0; i < order->lines.visible.count; i++)
        verify_line(order, order_line_peek(order, i));
    for (size_t i = 0; i < order->lines.hidden.count; i++)
        verify_line(order, &order->lines.hidden.items[i]);
}
