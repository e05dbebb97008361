/* The log: delivered events in blocks, the newest of them open, the others in the block store. */
#include "server/order/log/event_log.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

static const struct order_line *event_log_find_line(const struct order *order, uint32_t line)
{
    return line & HIDDEN_LINE ? line_get(order, line) : order_line_peek(order, line - 1);
}

/* ---- blocks ---- */

/* Evicts cached blocks until the cache fits its limit, by the second-chance algorithm. */
static void event_log_evict_block(struct event_log *log)
{
    struct block_cache *cache = &log->cache;
    while (cache->bytes > cache->limit && cache->count) {
        cache->hand = cache->hand >= cache->count ? 0 : cache->hand;
        struct kept_block *block = &log->blocks[cache->list[cache->hand]];
        if (block->rows->used) {
            block->rows->used = false;
            cache->hand++;
            continue;
        }
        cache->bytes -= block->rows->size;
        block_free(block->rows);
        block->rows = NULL;
        cache->list[cache->hand] = cache->list[--cache->count];
    }
}

/* Records an unreadable block; log_scan.c finds the events that are lost with it. */
static void note_damage(struct event_log *log, uint64_t block)
{
    struct unreadable_blocks *unreadable = &log->unreadable;
    unreadable->blocks =
        array_reserve(unreadable->blocks, &unreadable->room, unreadable->count + 1, sizeof block);
    unreadable->blocks[unreadable->count++] = block;
    if (!unreadable->first_place)
        unreadable->first_place = log->blocks[block].place;
}

static struct log_block *damaged_rows(struct event_log *log, uint64_t block)
{
    struct unreadable_blocks *unreadable = &log->unreadable;
    if (!unreadable->rows) { /* all fields are 0: its events are on line 0, which does not exist */
        unreadable->rows = block_open();
        unreadable->rows->count = BLOCK_EVENTS;
        memset(unreadable->rows->bytes, 0, unreadable->rows->size);
    }
    note_damage(log, block);
    return unreadable->rows;
}

static bool lines_fit(const struct line_table *lines, const struct log_block *rows)
{
    const uint64_t most[] = {lines->visible.count, lines->hidden.count};
    uint64_t bad = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t code = block_get(rows, i, FIELD_LINE);
        bad |= (code <= 1) | (code >> 1 > most[code & 1]);
    }
    return !bad;
}

const struct log_block *log_load(const struct order *constant, uint64_t number)
{
    /* a cache is not part of the order's state */
    struct order *order = (struct order *)(uintptr_t)constant;
    struct event_log *log = &order->log;
    struct kept_block *block = &log->blocks[number];
    size_t size = 0;
    uint8_t *bytes = order->shelf.get(order->shelf.context, block->place, &size);
    struct log_block *rows = bytes ? block_load(bytes, size, number * BLOCK_EVENTS) : NULL;
    if (rows && (rows->count != BLOCK_EVENTS || !lines_fit(&order->lines, rows))) {
        block_free(rows);
        rows = NULL;
    }
    if (!rows)
        return block->rows = damaged_rows(log, number);
    struct block_cache *cache = &log->cache;
    event_log_evict_block(log);
    cache->list = array_reserve(cache->list, &cache->room, cache->count + 1, sizeof *cache->list);
    cache->list[cache->count++] = (uint32_t)number;
    cache->bytes += rows->size;
    return block->rows = rows;
}

/* Notes the sends of a block that is about to be packed. */
static void event_log_note_sends(struct event_log *log, uint64_t block)
{
    const struct log_block *rows = log->blocks[block].rows;
    if (!log->sent.bits) {
        log->sent.bits = xcalloc(SENT_BLOCKS, BLOCK_EVENTS / 8);
        log->sent.from = block;
    }
    uint8_t *bits = log->sent.bits + block % SENT_BLOCKS * (BLOCK_EVENTS / 8);
    memset(bits, 0, BLOCK_EVENTS / 8);
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t flags = block_get(rows, i, FIELD_FLAGS);
        bool sends = flags_send(flags) && !(flags & FIELD_INCONSISTENT);
        bits[i / 8] |= (uint8_t)(sends << i % 8);
    }
}

static void pack_block(struct event_log *log, const struct block_store *shelf, uint64_t number)
{
    struct kept_block *block = &log->blocks[number];
    size_t size;
    event_log_note_sends(log, number);
    uint8_t *bytes = block_pack(block->rows, &size);
    block->place = shelf->put(shelf->context, bytes, size);
    free(bytes);
    block_free(log->spare);
    log->spare = block->rows;
    log->spare->count = 0;
    log->spare->extra_count = 0;
    free(log->spare->glance);
    log->spare->glance = NULL;
    block->rows = NULL;
}

void log_pack_one(struct order *order)
{
    pack_block(&order->log, &order->shelf, order->log.packed);
    order->log.packed++;
}

void order_cache(struct order *order, size_t bytes)
{
    order->log.cache.limit = bytes;
    order->nodes.limit = bytes / 16384;
    event_log_evict_block(&order->log);
}

void order_release_caches(struct order *order)
{
    struct event_log *log = &order->log;
    size_t limit = log->cache.limit;
    for (size_t i = 0; i < log->cache.count; i++)
        log->blocks[log->cache.list[i]].rows->used = false;
    log->cache.limit = 0;
    event_log_evict_block(log);
    log->cache.limit = limit;
    position_cache_drop(&order->nodes);
}

void event_log_free(struct event_log *log)
{
    for (uint64_t i = 0; i * BLOCK_EVENTS < log->count; i++)
        if (log->blocks[i].rows != log->unreadable.rows)
            block_free(log->blocks[i].rows);
    block_free(log->unreadable.rows);
    free(log->unreadable.blocks);
    block_free(log->spare);
    free(log->blocks);
    free(log->sent.bits);
    free(log->cache.list);
}

/* ---- appending ---- */

static struct log_block *open_rows(struct order *order)
{
    struct event_log *log = &order->log;
    uint64_t number = log->count / BLOCK_EVENTS;
    if (log->count % BLOCK_EVENTS == 0) {
        log->blocks = array_reserve(log->blocks, &log->block_room, number + 1, sizeof *log->blocks);
        log->blocks[number] = (struct kept_block){.rows = log->spare ? log->spare : block_open()};
        log->spare = NULL;
        if (number - log->packed > OPEN_BLOCKS)
            pack_block(log, &order->shelf, log->packed++);
    }
    return log->blocks[number].rows;
}

static void add_neighbour(const struct order *order, struct order_line *line, uint32_t other)
{
    if (line->dense)
        return;
    const uint32_t *known = line_neighbors(line);
    for (unsigned i = line->neighbour_count; i-- > 0;)
        if (known[i] == other)
            return;
    const struct order_line *from = line_get(order, other);
    if (line->neighbour_count == NEIGHBOURS_MAX || !from || from->shared)
        line->dense = true;
    else
        line_add_neighbor(line, other);
}

static void make_dense(struct order *order, uint32_t line)
{
    line_touch(order, line);
    line_get(order, line)->dense = true;
}

/* Notes the lines from which order enters this one: those of the event's edges and of the other
 * members of its point. */
static void note_neighbours(struct order *order, const struct order_event *event,
                            const uint64_t *edges, const uint32_t *lines)
{
    struct order_line *line = line_get(order, event->line);
    for (uint32_t i = 0; i < event->edge_count && !line->dense; i++)
        add_neighbour(order, line,
                      lines ? lines[i] : block_line_of(log_get(order, edges[i], FIELD_LINE)));
    if (event->point == order->log.count)
        return;
    if (order->log.count - event->point > 1) { /* a group: each line is a neighbor of all others */
        for (uint64_t p = event->point; p < order->log.count; p++)
            make_dense(order, block_line_of(log_get(order, p, FIELD_LINE)));
        line->dense = true;
        return;
    }
    uint32_t other = order->log.newest_line;
    add_neighbour(order, line, other);
    line_touch(order, other);
    add_neighbour(order, line_get(order, other), event->line);
}

#define TRIM_AT_ONCE 32u
#define TRIM_EVENTS 256u /* between two trims */

/* Frees what idle lines do not need, a few lines at a time, in turn. Several at once, so that the
 * processor fetches them in parallel. */
static void trim_next(struct order *order)
{
    const struct line_array *lines = &order->lines.visible;
    size_t *next = &order->lines.next_trim;
    if (*next >= lines->count)
        *next = 0;
    size_t end = lines->count - *next > TRIM_AT_ONCE ? *next + TRIM_AT_ONCE : lines->count;
    for (; *next < end; ++*next)
        if (!line_is_evicted(order, *next) && !lines->items[*next].pending)
            line_trim(&lines->items[*next]);
}

static uint64_t event_log_clamp_u8(uint16_t v) { return v > 255 ? 255 : v; }

void log_append(struct order *order, const struct order_event *event, const uint64_t *edges,
                const uint32_t *lines)
{
    struct order_line *line = line_get(order, event->line);
    line_touch(order, event->line);
    uint64_t position = order->log.count;
    uint32_t i = position % BLOCK_EVENTS;
    struct log_block *rows = open_rows(order);
    rows->count = i + 1;
    block_set(rows, i, FIELD_NUMBER, event->number);
    block_set(rows, i, FIELD_TIME, (uint64_t)event->time_ns + FIELD_TIME_BIAS);
    block_set(rows, i, FIELD_PREVIOUS, line->last == NO_POSITION ? 0 : position - line->last);
    block_set(rows, i, FIELD_TIED, line->tied == NO_POSITION ? 0 : position - line->tied);
    if (event->edge_count || event->relation == RELATION_SYNC || event->relation == RELATION_GROUP)
        line->tied = position;
    block_set(rows, i, FIELD_RECEIVE, 0);
    block_set(rows, i, FIELD_LINE, block_line_code(event->line));
    block_set(rows, i, FIELD_THREAD, event->thread);
    block_set(rows, i, FIELD_ABOUT, event->about);
    block_set(rows, i, FIELD_SITE, event->site);
    block_set(rows, i, FIELD_POINT, position - event->point);
    block_set(rows, i, FIELD_TYPE, event->type);
    block_set(rows, i, FIELD_FLAGS,
              (uint64_t)event->relation | (event->state ? FIELD_INCONSISTENT : 0) |
                  (event->partner_lost ? FIELD_PARTNER_LOST : 0) |
                  (event->opened ? FIELD_OPENED : 0) | (line->after_gap ? FIELD_AFTER_GAP : 0) |
                  (event->sends ? FIELD_SENDS : 0) |
                  (uint64_t)event->doubt << FIELD_UNCERTAINTY_SHIFT);
    block_set(rows, i, FIELD_ACTIVE, event_log_clamp_u8(event->in.active));
    block_set(rows, i, FIELD_BLOCKED, event_log_clamp_u8(event->in.blocked));
    block_set(rows, i, FIELD_AWAY, event_log_clamp_u8(event->in.away));
    if (event->edge_count <= 1) {
        uint64_t one = event->edge_count ? position - edges[0] : 0;
        block_set_edges(rows, i, &one, event->edge_count, event->send_count);
    } else {
        uint64_t *distances = NULL;
        size_t room = 0;
        distances = array_reserve(distances, &room, event->edge_count, sizeof *distances);
        for (uint32_t k = 0; k < event->edge_count; k++)
            distances[k] = position - edges[k];
        block_set_edges(rows, i, distances, event->edge_count, event->send_count);
        free(distances);
    }
    if (event->state == EVENT_ORDERED)
        note_neighbours(order, event, edges, lines);
    order->log.newest_line = event->line;
    position_list_append(&line->positions, &order->nodes, position);
    line->last = position;
    line->delivered = event->number;
    line->after_gap = false;
    order->log.partners_lost += event->partner_lost;
    if (event->doubt) {
        struct uncertain_events *uncertain = &order->uncertain;
        uncertain->first = uncertain->count++ ? uncertain->first : position;
        uncertain->reasons |= UNTRACED_BIT(event->doubt);
    }
    order->log.count++;
    if (order->log.count % TRIM_EVENTS == 0)
        trim_next(order);
    if (event->line & HIDDEN_LINE)
        order->figures.hidden_events++;
    else
        order->figures.events++;
}

void log_set(struct order *order, uint64_t position, enum block_field field, uint64_t value)
{
    block_set(order->log.blocks[position / BLOCK_EVENTS].rows, position % BLOCK_EVENTS, field,
              value);
}

/* Adds missing numbers to the line's newest gap, or to a new one. */
static void event_log_miss(struct order_line *line, uint64_t count, bool left_out)
{
    struct line_more *more = line_more(line);
    struct gap *last = more->gap_count ? &more->gaps[more->gap_count - 1] : NULL;
    if (last && last->ordinal == line->positions.count && last->left_out == left_out) {
        last->count += count;
    } else {
        more->gaps =
            array_reserve(more->gaps, &more->gap_room, more->gap_count + 1, sizeof *more->gaps);
        more->gaps[more->gap_count++] =
            (struct gap){line->delivered + 1, count, line->positions.count, left_out};
    }
    line->delivered += count;
    line->has_gaps = true;
}

void log_gap(struct order *order, uint32_t number_of_line, uint64_t count)
{
    struct order_line *line = line_get(order, number_of_line);
    line_touch(order, number_of_line);
    event_log_miss(line, count, false);
    line->after_gap = true;
    order->figures.lost += count;
}

void log_leave_out(struct order *order, uint32_t number_of_line, uint64_t count)
{
    line_touch(order, number_of_line);
    event_log_miss(line_get(order, number_of_line), count, true);
}

void log_gap_found(struct order *order, uint32_t line, uint64_t count)
{
    log_gap(order, line, count);
    order->figures.found += count;
}

/* ---- positions of numbers ---- */

/* Returns the ordinal of a number; if the number was lost, that of the event before it (*exact
 * false), or UINT64_MAX if there is none. */
static uint64_t ordinal_of(const struct order_line *line, uint64_t number, bool *exact)
{
    uint64_t missing = 0;
    *exact = true;
    if (!line->has_gaps)
        return number - 1;
    for (size_t low = 0, high = line->more->gap_count; low < high;) {
        size_t i = (low + high) / 2;
        const struct gap *gap = &line->more->gaps[i];
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

static inline uint64_t line_at(const struct order *order, const struct order_line *line,
                               uint64_t ordinal)
{
    struct position_cache *nodes = (struct position_cache *)(uintptr_t)&order->nodes; /* caching */
    uint64_t position = ordinal + 1 == line->positions.count
                            ? line->last
                            : position_list_get(&line->positions, nodes, ordinal);
    return position < order->log.count && position >= order->log.first ? position : NO_POSITION;
}

uint64_t order_position(const struct order *order, struct event_id ref)
{
    const struct order_line *line = line_get(order, ref.line);
    if (!line || ref.number == 0 || ref.number > line->delivered)
        return NO_POSITION;
    bool exact;
    uint64_t ordinal = ordinal_of(line, ref.number, &exact);
    if (!exact || ordinal >= line->positions.count || (order->log.first && ordinal < line->base))
        return NO_POSITION;
    return line_at(order, line, ordinal);
}

uint64_t log_relation_state(const struct order *order, struct event_id ref, bool *lost)
{
    const struct order_line *line = line_get(order, ref.line);
    *lost |= line && ref.number > line->delivered;
    if (!line || ref.number == 0 || ref.number > line->delivered)
        return NO_POSITION;
    bool exact;
    uint64_t ordinal = ordinal_of(line, ref.number, &exact);
    *lost |= !exact;
    if (line->shared && !exact)
        return NO_POSITION;
    for (; ordinal >= line->base && ordinal < line->positions.count; ordinal--) {
        uint64_t position = line_at(order, line, ordinal);
        if (position == NO_POSITION)
            return NO_POSITION;
        if (!(log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT))
            return position;
        if (line->shared)
            break;
    }
    return NO_POSITION;
}

/* ---- queries ---- */

uint64_t order_count(const struct order *order) { return order->log.count; }

struct order_event order_event(const struct order *order, uint64_t position)
{
    const struct log_block *rows = log_block(order, position);
    uint32_t i = position % BLOCK_EVENTS;
    struct block_edges edges = block_edges(rows, i);
    uint64_t flags = block_get(rows, i, FIELD_FLAGS), point = block_get(rows, i, FIELD_POINT);
    return (struct order_event){
        .number = block_get(rows, i, FIELD_NUMBER),
        .time_ns = (int64_t)(block_get(rows, i, FIELD_TIME) - FIELD_TIME_BIAS),
        .point = position - (point > position ? position : point),
        .line = block_line_of(block_get(rows, i, FIELD_LINE)),
        .thread = (uint32_t)block_get(rows, i, FIELD_THREAD),
        .about = (uint32_t)block_get(rows, i, FIELD_ABOUT),
        .site = (uint32_t)block_get(rows, i, FIELD_SITE),
        .type = (uint32_t)block_get(rows, i, FIELD_TYPE),
        .edge_count = edges.count,
        .send_count = edges.sends,
        .relation = flags & FIELD_RELATION,
        .state = flags & FIELD_INCONSISTENT ? EVENT_CONTRADICTORY : EVENT_ORDERED,
        .partner_lost = (flags & FIELD_PARTNER_LOST) != 0,
        .opened = (flags & FIELD_OPENED) != 0,
        .after_gap = (flags & FIELD_AFTER_GAP) != 0,
        .sends = (flags & FIELD_SENDS) || (flags & FIELD_RELATION) == RELATION_SEND,
        .doubt = (uint8_t)(flags >> FIELD_UNCERTAINTY_SHIFT),
        .in = {.active = (uint16_t)block_get(rows, i, FIELD_ACTIVE),
               .blocked = (uint16_t)block_get(rows, i, FIELD_BLOCKED),
               .away = (uint16_t)block_get(rows, i, FIELD_AWAY)}};
}

uint64_t order_edge(const struct order *order, uint64_t position, uint32_t i)
{
    struct block_edges edges = block_edges(log_block(order, position), position % BLOCK_EVENTS);
    return position - block_edge(&edges, i);
}

uint64_t order_previous(const struct order *order, uint64_t position)
{
    uint64_t distance = log_get(order, position, FIELD_PREVIOUS);
    return distance && distance <= position - order->log.first ? position - distance : NO_POSITION;
}

uint32_t order_line_count(const struct order *order)
{
    return (uint32_t)order->lines.visible.count;
}
uint32_t order_hidden_lines(const struct order *order)
{
    return (uint32_t)order->lines.hidden.count;
}

bool order_line_shared(const struct order *order, uint32_t line)
{
    return event_log_find_line(order, line)->shared;
}

bool order_line_closed(const struct order *order, uint32_t line)
{
    return event_log_find_line(order, line)->closed == LINE_CLOSED;
}

void order_line_becomes(struct order *order, uint32_t line, uint32_t kind)
{
    line_touch(order, line);
    line_get(order, line)->kind = kind;
}

void order_line_is(struct order *order, uint32_t line, bool shared, uint32_t kind)
{
    order_line_becomes(order, line, kind);
    struct order_line *l = line_get(order, line);
    if (l->delivered || l->pending || l->last != NO_POSITION)
        return;
    l->shared = shared;
    order->lines.has_shared |= shared;
}

uint32_t order_line_kind(const struct order *order, uint32_t line)
{
    return event_log_find_line(order, line)->kind;
}

struct event_id order_line_opened_by(const struct order *order, uint32_t line)
{
    return line_opened_by(event_log_find_line(order, line));
}

uint64_t order_line_events(const struct order *order, uint32_t line)
{
    return event_log_find_line(order, line)->positions.count;
}

uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    return line_at(order, event_log_find_line(order, line), ordinal);
}

uint64_t order_line_from(const struct order *order, uint32_t number_of_line, uint64_t position)
{
    const struct order_line *line = event_log_find_line(order, number_of_line);
    position = position > order->log.first ? position : order->log.first;
    if (line->positions.count == 0 || position > line->last)
        return line->positions.count;
    return position_list_find(&line->positions, (struct position_cache *)(uintptr_t)&order->nodes,
                              line->base, position);
}

bool order_line_gap(const struct order *order, uint32_t number_of_line, size_t i, uint64_t *first,
                    uint64_t *count)
{
    const struct order_line *line = event_log_find_line(order, number_of_line);
    if (i >= line->more->gap_count)
        return false;
    *first = line->more->gaps[i].first;
    *count = line->more->gaps[i].left_out ? 0 : line->more->gaps[i].count;
    return true;
}

uint64_t order_point_end(const struct order *order, uint64_t position)
{
    while (position + 1 < order->log.count && log_get(order, position + 1, FIELD_POINT) > 0)
        position++;
    return position;
}

uint64_t order_point_spread_ns(const struct order *order) { return order->log.point_spread_ns; }

/* ---- which part is kept ---- */

uint64_t order_line_highest(const struct order *order, uint32_t line)
{
    const struct order_line *l = event_log_find_line(order, line);
    return l->highest > l->delivered ? l->highest : l->delivered;
}

uint64_t order_first(const struct order *order) { return order->log.first; }

uint64_t order_line_first(const struct order *order, uint32_t line)
{
    const struct order_line *l = event_log_find_line(order, line);
    return order->discarding.under_way ? order_line_from(order, line, order->log.first) : l->base;
}

bool order_is_discarded(const struct order *order, struct event_id at)
{
    bool hidden = at.line & HIDDEN_LINE, there = at.line && at.line <= order->lines.visible.count;
    const struct order_line *line = hidden  ? line_get(order, at.line)
                                    : there ? order_line_peek(order, at.line - 1)
                                            : NULL;
    uint64_t base = line ? order_line_first(order, at.line) : 0;
    if (!line || base == 0 || at.number == 0 || at.number > line->delivered)
        return false;
    if (line->positions.count == base)
        return true;
    uint64_t first = order_line_at(order, at.line, base);
    return first == NO_POSITION || at.number < log_get(order, first, FIELD_NUMBER);
}
