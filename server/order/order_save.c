/* Saves and restores an order: what is still growing, its lines as bytes, and the places of the
 * rest in the block store.  Pending events are not saved: their arrivals must be inserted again. */
#include "base/alloc.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "server/order/saved_format.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- position lists: their unfinished nodes ---- */

static void save_series(struct save_bytes *out, const struct position_list *series)
{
    save_put_number(out, series->count);
    for (unsigned level = 0; level < POSITION_LIST_LEVELS; level++) {
        uint64_t before = 0;
        const uint64_t *tail = position_list_node(series, level);
        for (uint32_t i = 0; i < position_list_tail(series, level); i++) {
            uint64_t value = tail ? tail[i] : 0; /* released */
            save_put_number(out, value - before);
            before = value;
        }
    }
}

static void load_series(struct save_reader *in, struct position_list *series)
{
    series->count = save_get_number(in);
    for (unsigned level = 0; level < POSITION_LIST_LEVELS; level++) {
        uint32_t n = position_list_tail(series, level);
        uint64_t value = 0;
        if (in->bad || n > in->size - in->at) {
            in->bad = true;
            series->count = 0;
            return;
        }
        if (!n)
            continue;
        uint64_t *tail = position_list_reserve(series, level, n);
        for (uint32_t i = 0; i < n; i++)
            tail[i] = value += save_get_number(in);
    }
}

/* ---- lines: their attributes and counts ---- */

/* Attributes of a line, and which of its fields follow. */
enum {
    SHARED = 1,
    CLOSED = 2,
    GONE = 4,
    DENSE = 8,
    AFTER_GAP = 16,
    HAS_ACTED = 32,
    HAS_EVENTS = 64, /* some that are not discarded */
    HAS_HIGHEST = 128,
    HAS_OPENER = 256,
    HAS_GAPS = 512,
    HAS_SITS = 1024,
    HAS_COLLECTORS = 2048,
    HAS_NEIGHBOURS = 4096
};

unsigned line_flags(const struct order_line *line)
{
    const struct line_more *more = line->more;
    return (line->shared ? SHARED : 0u) | (line->closed == LINE_CLOSED ? CLOSED : 0u) |
           (line->gone ? GONE : 0u) | (line->dense ? DENSE : 0u) |
           (line->after_gap ? AFTER_GAP : 0u) | (line->acted ? HAS_ACTED : 0u) |
           (line->base != line->positions.count ? HAS_EVENTS : 0u) |
           (line->highest > line->delivered ? HAS_HIGHEST : 0u) |
           (line->opened_line ? HAS_OPENER : 0u) | (more->gap_count ? HAS_GAPS : 0u) |
           (line->occupant_count ? HAS_SITS : 0u) | (more->collector_count ? HAS_COLLECTORS : 0u) |
           (line->neighbour_count ? HAS_NEIGHBOURS : 0u);
}

static void save_more(struct save_bytes *out, const struct order_line *line, unsigned flags)
{
    const struct line_more *more = line->more;
    if (flags & HAS_GAPS)
        save_put_number(out, more->gap_count);
    for (size_t i = 0; i < more->gap_count; i++) {
        save_put_number(out, more->gaps[i].first);
        save_put_number(out, more->gaps[i].count);
        save_put_number(out, more->gaps[i].ordinal);
    }
    if (flags & HAS_SITS)
        save_put_number(out, line->occupant_count);
    for (size_t i = 0; i < line->occupant_count; i++) {
        save_put_number(out, more->occupants[i].thread);
        save_put_number(out, more->occupants[i].presence);
        save_put_number(out, more->occupants[i].since);
    }
    if (flags & HAS_COLLECTORS)
        save_put_number(out, more->collector_count);
    for (size_t i = 0; i < more->collector_count; i++) {
        save_put_number(out, more->collectors[i].type);
        save_put_number(out, block_line_code(more->collectors[i].hidden));
        save_put_number(out, more->collectors[i].ordinal);
    }
    if (flags & HAS_NEIGHBOURS)
        save_put_number(out, line->neighbour_count);
    for (size_t i = 0; i < line->neighbour_count; i++)
        save_put_number(out, block_line_code(line_neighbors(line)[i]));
}

void save_line(struct save_bytes *out, const struct order_line *line, unsigned flags)
{
    save_put_number(out, flags);
    save_put_number(out, line->kind);
    save_put_number(out, line->delivered);
    if (flags & HAS_ACTED)
        save_put_number(out, line->acted);
    if (flags & HAS_EVENTS) {
        save_put_number(out, line->base);
        save_put_number(out, line->last + 1);
        save_put_number(out, line->tied + 1);
    }
    if (flags & HAS_HIGHEST)
        save_put_number(out, line->highest);
    if (flags & HAS_OPENER)
        save_put_event_ref(out, line_opened_by(line));
    if (flags & HAS_EVENTS)
        save_series(out, &line->positions);
    else
        save_put_number(out, line->positions.count);
    save_more(out, line, flags);
}

bool save_is_same(const struct order_line *a, const struct order_line *b, unsigned flags)
{
    return a->kind == b->kind && a->delivered == b->delivered &&
           a->positions.count == b->positions.count && line_flags(b) == flags;
}

static void load_gaps(struct save_reader *in, struct order_line *line)
{
    for (size_t n = save_get_count(in); n && !in->bad; n--) {
        struct line_more *more = line_more(line);
        more->gaps =
            array_reserve(more->gaps, &more->gap_room, more->gap_count + 1, sizeof *more->gaps);
        struct gap *gap = &more->gaps[more->gap_count++];
        gap->first = save_get_number(in);
        gap->count = save_get_number(in);
        gap->ordinal = save_get_number(in);
    }
    line->has_gaps = line->more->gap_count > 0;
}

static void load_sits(struct save_reader *in, struct order_line *line)
{
    for (size_t n = save_get_count(in); n && !in->bad; n--) {
        struct line_more *more = line_more(line);
        more->occupants = array_reserve(more->occupants, &more->occupant_room,
                                        line->occupant_count + 1, sizeof *more->occupants);
        struct occupant *sits = &more->occupants[line->occupant_count++];
        sits->thread = (uint32_t)save_get_number(in);
        sits->presence = (uint8_t)save_get_number(in);
        sits->since = save_get_number(in);
        in->bad |= sits->presence > OCCUPANCY_AWAY;
    }
}

static void load_collectors(struct save_reader *in, const struct order *order,
                            struct order_line *line)
{
    for (size_t n = save_get_count(in); n && !in->bad; n--) {
        struct line_more *more = line_more(line);
        more->collectors = array_reserve(more->collectors, &more->collector_room,
                                         more->collector_count + 1, sizeof *more->collectors);
        struct collector *collector = &more->collectors[more->collector_count++];
        collector->type = (uint32_t)save_get_number(in);
        collector->hidden = block_line_of(save_get_number(in));
        collector->ordinal = save_get_number(in);
        in->bad |= collector->hidden && !line_get(order, collector->hidden);
    }
}

static void load_neighbours(struct save_reader *in, const struct order *order,
                            struct order_line *line)
{
    size_t n = save_get_count(in);
    in->bad |= n > NEIGHBOURS_MAX;
    for (; n && !in->bad; n--) {
        uint32_t other = block_line_of(save_get_number(in));
        in->bad |= !line_get(order, other);
        line_add_neighbor(line, other);
    }
}

static void load_events(struct save_reader *in, struct order_line *line)
{
    line->base = save_get_number(in);
    line->last = save_get_number(in) - 1;
    line->tied = save_get_number(in) - 1;
}

/* Loads a line with all events discarded: which of them was its last makes no difference, but
 * that there was one does. */
static void load_forgotten(struct save_reader *in, const struct order *order,
                           struct order_line *line)
{
    line->base = line->positions.count = save_get_number(in);
    in->bad |= line->base && !order->log.first;
    line->last = line->base ? order->log.first - 1 : NO_POSITION;
}

static bool line_fits(const struct order *order, const struct order_line *line)
{
    const uint64_t n = line->positions.count;
    return line->base <= n && n <= order->log.count && line->acted <= order->log.count &&
           (n == 0 || line->last < order->log.count) &&
           (line->tied == NO_POSITION || line->tied < order->log.count);
}

static unsigned load_line(struct save_reader *in, struct order *order, struct order_line *line)
{
    unsigned flags = (unsigned)save_get_number(in);
    line->shared = flags & SHARED;
    order->lines.has_shared |= line->shared;
    line->closed = flags & CLOSED ? LINE_CLOSED : LINE_OPEN;
    line->gone = flags & GONE;
    line->dense = flags & DENSE;
    line->after_gap = flags & AFTER_GAP;
    line->kind = (uint32_t)save_get_number(in);
    line->delivered = save_get_number(in);
    line->acted = flags & HAS_ACTED ? save_get_number(in) : 0;
    if (flags & HAS_EVENTS)
        load_events(in, line);
    if (flags & HAS_HIGHEST)
        line->highest = save_get_number(in);
    if (flags & HAS_OPENER) {
        struct event_id by = save_get_event_ref(in);
        line->opened_line = by.line;
        line->opened_number = by.number;
    } else {
        line->opened_line = 0; /* the line's declaration may have set it */
    }
    if (flags & HAS_EVENTS)
        load_series(in, &line->positions);
    else
        load_forgotten(in, order, line);
    if (flags & HAS_GAPS)
        load_gaps(in, line);
    if (flags & HAS_SITS)
        load_sits(in, line);
    if (flags & HAS_COLLECTORS)
        load_collectors(in, order, line);
    if (flags & HAS_NEIGHBOURS)
        load_neighbours(in, order, line);
    in->bad |= !line_fits(order, line);
    return flags;
}

static void load_same(struct order_line *line, const struct order_line *as)
{
    line->shared = as->shared;
    line->closed = as->closed;
    line->gone = as->gone;
    line->dense = as->dense;
    line->after_gap = as->after_gap;
    line->kind = as->kind;
    line->delivered = as->delivered;
    line->opened_line = 0;
    line->base = line->positions.count = as->positions.count;
    line->last = as->last;
}

void load_lines(struct save_reader *in, struct order *order, struct order_line *lines, size_t count)
{
    for (size_t i = 0; i < count && !in->bad; i++) {
        unsigned flags = load_line(in, order, &lines[i]);
        if (flags & LINE_TELLS)
            continue;
        uint64_t same = save_get_number(in);
        in->bad |= same >= count - i;
        for (; same && !in->bad; same--, i++)
            load_same(&lines[i + 1], &lines[i]);
    }
}

/* ---- blocks ---- */

#define SAVE_VERSION 1u

static void save_blocks(struct save_bytes *out, const struct event_log *log)
{
    uint64_t before = 0;
    save_put_number(out, log->packed);
    for (uint64_t i = 0; i < log->packed; i++) {
        save_put_number(out, log->blocks[i].place - before);
        before = log->blocks[i].place;
    }
    if (log->count % BLOCK_EVENTS == 0)
        return;
    size_t size;
    uint8_t *bytes = block_pack(log->blocks[log->packed].rows, &size);
    save_put_block(out, bytes, size);
    free(bytes);
}

static void load_blocks(struct save_reader *in, struct event_log *log)
{
    uint64_t place = 0;
    log->packed = save_get_count(in);
    if (in->bad || log->packed != log->count / BLOCK_EVENTS) {
        in->bad = true;
        log->packed = log->count = 0;
        return;
    }
    log->blocks =
        array_reserve(log->blocks, &log->block_room, log->packed + 1, sizeof *log->blocks);
    for (uint64_t i = 0; i < log->packed; i++)
        log->blocks[i] = (struct kept_block){.place = place += save_get_number(in)};
    if (log->count % BLOCK_EVENTS == 0)
        return;
    size_t size;
    const uint8_t *bytes = save_get_block(in, &size);
    uint8_t *copy = xmalloc(size + 8);
    memcpy(copy, bytes, size);
    memset(copy + size, 0, 8);
    struct log_block *rows =
        in->bad ? (free(copy), NULL) : block_load(copy, size, log->packed * BLOCK_EVENTS);
    if (!rows || rows->count != log->count % BLOCK_EVENTS) {
        in->bad = true;
        log->count = log->packed * BLOCK_EVENTS;
    } else {
        log->blocks[log->packed] = (struct kept_block){.rows = block_open_copy(rows)};
    }
    block_free(rows);
}

/* Checks that the lines of the open block exist, too. */
static bool open_lines_fit(const struct order *order)
{
    const struct event_log *log = &order->log;
    if (log->count % BLOCK_EVENTS == 0)
        return true;
    const struct log_block *rows = log->blocks[log->packed].rows;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!line_get(order, block_line_of(block_get(rows, i, FIELD_LINE))))
            return false;
    return true;
}

/* ---- the whole order ---- */

static void save_head(struct save_bytes *out, const struct order *order)
{
    const struct order_figures *f = &order->figures;
    save_put_number(out, SAVE_VERSION);
    save_put_number(out, order->log.count);
    save_put_number(out, order->log.first);
    save_put_number(out, order->log.partners_lost);
    save_put_number(out, order->log.point_spread_ns);
    save_put_number(out, f->events);
    save_put_number(out, f->hidden_events);
    save_put_number(out, f->lost);
    save_put_number(out, f->found);
    save_put_number(out, f->contradictions);
    save_put_number(out, f->duplicates);
    save_put_number(out, order->uncertain.count);
    save_put_number(out, order->uncertain.first);
    save_put_number(out, order->uncertain.reasons);
    save_put_number(out, order->uncertain.discarded_reasons);
}

bool order_save_prepare(struct order *order)
{
    if ((order->log.packed + 1) * BLOCK_EVENTS > order->log.count)
        return true;
    log_pack_one(order);
    return false;
}

void order_save_begin(struct order *order)
{
    while (!order_discard_step(order))
        ;
    while (!order_save_prepare(order))
        ;
    line_pages_thaw(order);
    line_pages_freeze(order);
    save_rest_freeze(order);
    order->saves.bytes = 0;
    struct save_bytes *out = &order->saves.frozen->state;
    save_head(out, order);
    save_blocks(out, &order->log);
    save_put_number(out, order->lines.hidden.count);
    save_put_number(out, order->lines.visible.count);
}

bool order_save_step(struct order *order)
{
    return save_rest_write_next(order) && line_pages_write_next(order);
}

uint8_t *order_save_end(struct order *order, size_t *size)
{
    struct save_bytes *out = &order->saves.frozen->state;
    while (!order_save_step(order))
        ;
    save_rest(out, order);
    save_pages(out, order, 1);
    save_pages(out, order, 0);
    uint8_t *bytes = out->data;
    *size = out->size;
    *out = (struct save_bytes){0};
    line_pages_thaw(order);
    return bytes;
}

void order_save_drop(struct order *order) { line_pages_thaw(order); }
uint64_t order_saved_bytes(const struct order *order) { return order->saves.bytes; }

uint8_t *order_save(struct order *order, size_t *size)
{
    order_save_begin(order);
    return order_save_end(order, size);
}

static void load_head(struct save_reader *in, struct order *order)
{
    struct order_figures *f = &order->figures;
    order->log.count = save_get_number(in);
    order->log.first = save_get_number(in);
    order->log.partners_lost = save_get_number(in);
    order->log.point_spread_ns = save_get_number(in);
    f->events = save_get_number(in);
    f->hidden_events = save_get_number(in);
    f->lost = save_get_number(in);
    f->found = save_get_number(in);
    f->contradictions = save_get_number(in);
    f->duplicates = save_get_number(in);
    order->uncertain.count = save_get_number(in);
    order->uncertain.first = save_get_number(in);
    order->uncertain.reasons = (uint32_t)save_get_number(in);
    order->uncertain.discarded_reasons = (uint32_t)save_get_number(in);
}

bool order_restore(struct order *order, const uint8_t *bytes, size_t size)
{
    struct save_reader in = {.data = bytes, .size = size};
    if (order->log.count || order->lines.hidden.count || save_get_number(&in) != SAVE_VERSION)
        return false;
    load_head(&in, order);
    load_blocks(&in, &order->log);
    uint64_t hidden = save_get_number(&in);
    in.bad |= hidden > order->log.count; /* each has an event */
    in.bad |=
        save_get_number(&in) != order->lines.visible.count || order->log.first > order->log.count;
    uint32_t number;
    for (size_t i = 0; i < hidden && !in.bad; i++)
        line_new_hidden(order, 0, &number);
    load_rest(&in, order);
    load_pages(&in, order, 1);
    load_pages(&in, order, 0);
    bool good = !in.bad && in.at == in.size && open_lines_fit(order);
    if (good && order->log.first)
        order_evict_line(order);
    return good;
}
