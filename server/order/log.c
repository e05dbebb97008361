/* The log: delivered events in blocks, the newest of them open, the others on the shelf. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

struct line *order_get(const struct order *order, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < order->hidden_count ? &order->hidden[i] : NULL;
    return i < order->line_count ? &order->lines[i] : NULL;
}

/* ---- blocks ---- */

/* Second chance: the hand passes over blocks used since it came by last. */
static void evict(struct order *order)
{
    struct cache *cache = &order->cache;
    while (cache->bytes > cache->limit && cache->count) {
        cache->hand = cache->hand >= cache->count ? 0 : cache->hand;
        struct block *block = &order->blocks[cache->list[cache->hand]];
        if (block->rows->used) {
            block->rows->used = false;
            cache->hand++;
            continue;
        }
        cache->bytes -= block->rows->size;
        rows_free(block->rows);
        block->rows = NULL;
        cache->list[cache->hand] = cache->list[--cache->count];
    }
}

static struct rows *damaged_rows(struct order *order, uint64_t block)
{
    if (!order->damaged) { /* every field is 0: on line 0 */
        order->damaged = rows_open();
        order->damaged->count = BLOCK_EVENTS;
        order->damaged->row_bytes = 0;
        memset(order->damaged->bytes, 0, 80);
    }
    damage_note(order, block);
    return order->damaged;
}

static bool lines_fit(const struct order *order, const struct rows *rows)
{
    const uint64_t most[] = {order->line_count, order->hidden_count};
    uint64_t bad = 0;
    for (uint32_t i = 0; i < rows->count; i++) {
        uint64_t code = row_get(rows, i, ROW_LINE);
        bad |= (code <= 1) | (code >> 1 > most[code & 1]);
    }
    return !bad;
}

const struct rows *log_load(const struct order *constant, uint64_t number)
{
    struct order *order = (struct order *)(uintptr_t)constant; /* caching changes nothing seen */
    struct block *block = &order->blocks[number];
    size_t size = 0;
    uint8_t *bytes = order->shelf.get(order->shelf.context, block->place, &size);
    struct rows *rows = bytes ? rows_load(bytes, size, number * BLOCK_EVENTS) : NULL;
    if (rows && (rows->count != BLOCK_EVENTS || !lines_fit(order, rows))) {
        rows_free(rows);
        rows = NULL;
    }
    if (!rows)
        return block->rows = damaged_rows(order, number);
    struct cache *cache = &order->cache;
    evict(order);
    cache->list = grow(cache->list, &cache->room, cache->count + 1, sizeof *cache->list);
    cache->list[cache->count++] = (uint32_t)number;
    cache->bytes += rows->size;
    return block->rows = rows;
}

static void pack_block(struct order *order, uint64_t number)
{
    struct block *block = &order->blocks[number];
    size_t size;
    uint8_t *bytes = rows_pack(block->rows, &size);
    block->place = order->shelf.put(order->shelf.context, bytes, size);
    free(bytes);
    rows_free(order->spare);
    order->spare = block->rows;
    order->spare->count = 0;
    order->spare->extra_count = 0;
    block->rows = NULL;
}

void log_pack(struct order *order)
{
    for (; (order->packed + 1) * BLOCK_EVENTS <= order->count; order->packed++)
        pack_block(order, order->packed);
}

void order_cache(struct order *order, size_t bytes)
{
    order->cache.limit = bytes;
    order->nodes.limit = bytes / 16384;
    evict(order);
}

void order_rest(struct order *order)
{
    size_t limit = order->cache.limit;
    for (size_t i = 0; i < order->cache.count; i++)
        order->blocks[order->cache.list[i]].rows->used = false;
    order->cache.limit = 0;
    evict(order);
    order->cache.limit = limit;
    nodes_drop(&order->nodes);
}

/* ---- appending ---- */

static struct rows *open_rows(struct order *order)
{
    uint64_t number = order->count / BLOCK_EVENTS;
    if (order->count % BLOCK_EVENTS == 0) {
        order->blocks =
            grow(order->blocks, &order->block_room, number + 1, sizeof *order->blocks);
        order->blocks[number] = (struct block){.rows = order->spare ? order->spare : rows_open()};
        order->spare = NULL;
        if (number - order->packed > OPEN_BLOCKS)
            pack_block(order, order->packed++);
    }
    return order->blocks[number].rows;
}

static void add_neighbour(const struct order *order, struct line *line, uint32_t other)
{
    if (line->dense)
        return;
    const uint32_t *known = line_neighbours(line);
    for (unsigned i = line->neighbour_count; i-- > 0;)
        if (known[i] == other)
            return;
    const struct line *from = order_get(order, other);
    if (line->neighbour_count == NEIGHBOURS_MAX || !from || from->shared)
        line->dense = true;
    else
        line_add_neighbour(line, other);
}

/* From which lines order comes in here: by its edges, and by the other members of its point. */
static void note_neighbours(struct order *order, const struct event *event, const uint64_t *edges)
{
    struct line *line = order_get(order, event->line);
    for (uint32_t i = 0; i < event->edge_count && !line->dense; i++)
        add_neighbour(order, line, row_line_of(log_get(order, edges[i], ROW_LINE)));
    if (event->point == order->count)
        return;
    if (order->count - event->point > 1) { /* a group: everybody is everybody's */
        for (uint64_t p = event->point; p < order->count; p++)
            order_get(order, row_line_of(log_get(order, p, ROW_LINE)))->dense = true;
        line->dense = true;
        return;
    }
    uint32_t other = row_line_of(log_get(order, event->point, ROW_LINE));
    add_neighbour(order, line, other);
    add_neighbour(order, order_get(order, other), event->line);
}

static uint64_t most(uint16_t v) { return v > 255 ? 255 : v; }

void log_append(struct order *order, const struct event *event, const uint64_t *edges)
{
    struct line *line = order_get(order, event->line);
    uint64_t position = order->count;
    uint32_t i = position % BLOCK_EVENTS;
    struct rows *rows = open_rows(order);
    rows->count = i + 1;
    rows_set(rows, i, ROW_NUMBER, event->number);
    rows_set(rows, i, ROW_TIME, (uint64_t)event->time_ns + ROW_TIME_BIAS);
    rows_set(rows, i, ROW_PREVIOUS,
             line->last == NO_POSITION ? 0 : position - line->last);
    rows_set(rows, i, ROW_TIED, line->tied == NO_POSITION ? 0 : position - line->tied);
    if (event->edge_count || event->relation == RELATION_SYNC || event->relation == RELATION_GROUP)
        line->tied = position;
    rows_set(rows, i, ROW_RECEIVE, 0);
    rows_set(rows, i, ROW_LINE, row_line_code(event->line));
    rows_set(rows, i, ROW_THREAD, event->thread);
    rows_set(rows, i, ROW_ABOUT, event->about);
    rows_set(rows, i, ROW_SITE, event->site);
    rows_set(rows, i, ROW_POINT, position - event->point);
    rows_set(rows, i, ROW_TYPE, event->type);
    rows_set(rows, i, ROW_FLAGS,
             (uint64_t)event->relation | (event->state ? ROW_CONTRADICTORY : 0) |
                 (event->partner_lost ? ROW_PARTNER_LOST : 0) | (event->opened ? ROW_OPENED : 0) |
                 (line->after_gap ? ROW_AFTER_GAP : 0) | (event->sends ? ROW_SENDS : 0) |
                 (uint64_t)event->doubt << ROW_DOUBT_SHIFT);
    rows_set(rows, i, ROW_ACTIVE, most(event->in.active));
    rows_set(rows, i, ROW_BLOCKED, most(event->in.blocked));
    rows_set(rows, i, ROW_AWAY, most(event->in.away));
    if (event->edge_count <= 1) {
        uint64_t one = event->edge_count ? position - edges[0] : 0;
        rows_set_edges(rows, i, &one, event->edge_count, event->send_count);
    } else {
        uint64_t *distances = NULL;
        size_t room = 0;
        distances = grow(distances, &room, event->edge_count, sizeof *distances);
        for (uint32_t k = 0; k < event->edge_count; k++)
            distances[k] = position - edges[k];
        rows_set_edges(rows, i, distances, event->edge_count, event->send_count);
        free(distances);
    }
    if (event->state == EVENT_ORDERED)
        note_neighbours(order, event, edges);
    series_append(&line->positions, &order->nodes, position);
    line->last = position;
    line->delivered = event->number;
    line->after_gap = false;
    order->partners_lost += event->partner_lost;
    if (event->doubt) {
        order->first_doubt = order->doubts++ ? order->first_doubt : position;
        order->doubt_reasons |= UNSEEN_BIT(event->doubt);
    }
    order->count++;
    if (event->line & HIDDEN_LINE)
        order->figures.hidden_events++;
    else
        order->figures.events++;
}

void log_set(struct order *order, uint64_t position, enum row_field field, uint64_t value)
{
    rows_set(order->blocks[position / BLOCK_EVENTS].rows, position % BLOCK_EVENTS, field, value);
}

void log_gap(struct order *order, uint32_t number_of_line, uint64_t count)
{
    struct line *line = order_get(order, number_of_line);
    struct more *more = line_more(line);
    struct gap *last = more->gap_count ? &more->gaps[more->gap_count - 1] : NULL;
    if (last && last->ordinal == line->positions.count) {
        last->count += count;
    } else {
        more->gaps =
            grow(more->gaps, &more->gap_room, more->gap_count + 1, sizeof *more->gaps);
        more->gaps[more->gap_count++] =
            (struct gap){line->delivered + 1, count, line->positions.count};
    }
    line->delivered += count;
    line->after_gap = line->has_gaps = true;
    order->figures.lost += count;
}

/* ---- from numbers to positions ---- */

/* Ordinal of a number, or of the event before it if it was lost (*exact false);
 * UINT64_MAX if there is none. */
static uint64_t ordinal_of(const struct line *line, uint64_t number, bool *exact)
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

static inline uint64_t line_at(const struct order *order, const struct line *line, uint64_t ordinal)
{
    struct nodes *nodes = (struct nodes *)(uintptr_t)&order->nodes; /* caching */
    uint64_t position = ordinal + 1 == line->positions.count
                            ? line->last
                            : series_get(&line->positions, nodes, ordinal);
    return position < order->count && position >= order->first ? position : NO_POSITION;
}

uint64_t order_position(const struct order *order, struct ref ref)
{
    const struct line *line = order_get(order, ref.line);
    if (!line || ref.number == 0 || ref.number > line->delivered)
        return NO_POSITION;
    bool exact;
    uint64_t ordinal = ordinal_of(line, ref.number, &exact);
    if (!exact || ordinal >= line->positions.count || (order->first && ordinal < line->base))
        return NO_POSITION;
    return line_at(order, line, ordinal);
}

uint64_t log_standing(const struct order *order, struct ref ref, bool *lost)
{
    const struct line *line = order_get(order, ref.line);
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
        if (!(log_get(order, position, ROW_FLAGS) & ROW_CONTRADICTORY))
            return position;
        if (line->shared)
            break;
    }
    return NO_POSITION;
}

/* ---- looking ---- */

uint64_t order_count(const struct order *order) { return order->count; }

struct event order_event(const struct order *order, uint64_t position)
{
    const struct rows *rows = log_rows(order, position);
    uint32_t i = position % BLOCK_EVENTS;
    struct row_edges edges = rows_edges(rows, i);
    uint64_t flags = row_get(rows, i, ROW_FLAGS), point = row_get(rows, i, ROW_POINT);
    return (struct event){
        .number = row_get(rows, i, ROW_NUMBER),
        .time_ns = (int64_t)(row_get(rows, i, ROW_TIME) - ROW_TIME_BIAS),
        .point = position - (point > position ? position : point),
        .line = row_line_of(row_get(rows, i, ROW_LINE)),
        .thread = (uint32_t)row_get(rows, i, ROW_THREAD),
        .about = (uint32_t)row_get(rows, i, ROW_ABOUT),
        .site = (uint32_t)row_get(rows, i, ROW_SITE),
        .type = (uint32_t)row_get(rows, i, ROW_TYPE),
        .edge_count = edges.count,
        .send_count = edges.sends,
        .relation = flags & ROW_RELATION,
        .state = flags & ROW_CONTRADICTORY ? EVENT_CONTRADICTORY : EVENT_ORDERED,
        .partner_lost = (flags & ROW_PARTNER_LOST) != 0,
        .opened = (flags & ROW_OPENED) != 0,
        .after_gap = (flags & ROW_AFTER_GAP) != 0,
        .sends = (flags & ROW_SENDS) || (flags & ROW_RELATION) == RELATION_SEND,
        .doubt = (uint8_t)(flags >> ROW_DOUBT_SHIFT),
        .in = {.active = (uint16_t)row_get(rows, i, ROW_ACTIVE),
               .blocked = (uint16_t)row_get(rows, i, ROW_BLOCKED),
               .away = (uint16_t)row_get(rows, i, ROW_AWAY)}};
}

uint64_t order_edge(const struct order *order, uint64_t position, uint32_t i)
{
    struct row_edges edges = rows_edges(log_rows(order, position), position % BLOCK_EVENTS);
    return position - row_edge(&edges, i);
}

uint64_t order_previous(const struct order *order, uint64_t position)
{
    uint64_t distance = log_get(order, position, ROW_PREVIOUS);
    return distance && distance <= position - order->first ? position - distance : NO_POSITION;
}

uint32_t order_lines(const struct order *order) { return (uint32_t)order->line_count; }
uint32_t order_hidden_lines(const struct order *order) { return (uint32_t)order->hidden_count; }

bool order_line_shared(const struct order *order, uint32_t line)
{
    return order_get(order, line)->shared;
}

bool order_line_closed(const struct order *order, uint32_t line)
{
    return order_get(order, line)->closed == LINE_CLOSED;
}

void order_line_becomes(struct order *order, uint32_t line, uint32_t kind)
{
    order_get(order, line)->kind = kind;
}

uint32_t order_line_kind(const struct order *order, uint32_t line)
{
    return order_get(order, line)->kind;
}

struct ref order_line_opened_by(const struct order *order, uint32_t line)
{
    return line_opened_by(order_get(order, line));
}

uint64_t order_line_events(const struct order *order, uint32_t line)
{
    return order_get(order, line)->positions.count;
}

uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal)
{
    return line_at(order, order_get(order, line), ordinal);
}

uint64_t order_line_from(const struct order *order, uint32_t number_of_line, uint64_t position)
{
    const struct line *line = order_get(order, number_of_line);
    if (line->positions.count == 0 || position > line->last)
        return line->positions.count;
    return series_find(&line->positions, (struct nodes *)(uintptr_t)&order->nodes, line->base,
                       position);
}

bool order_line_gap(const struct order *order, uint32_t number_of_line, size_t i, uint64_t *first,
                    uint64_t *count)
{
    const struct line *line = order_get(order, number_of_line);
    if (i >= line->more->gap_count)
        return false;
    *first = line->more->gaps[i].first;
    *count = line->more->gaps[i].count;
    return true;
}

uint64_t order_point_end(const struct order *order, uint64_t position)
{
    while (position + 1 < order->count && log_get(order, position + 1, ROW_POINT) > 0)
        position++;
    return position;
}
