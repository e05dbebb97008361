/* Saving an order as one run of bytes, and getting it back: what is still growing, and where the rest
 * is on the shelf.  What is pending is not in it: its arrivals are to be accepted again. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

#define SAVE_VERSION 3u
#define SAVE_WITHOUT_DOUBTS 2u /* an older one */

/* ---- bytes ---- */

struct bytes {
    uint8_t *data;
    size_t size, room;
};

/* Numbers in seven-bit groups, least first (LEB128). */
static void put(struct bytes *out, uint64_t v)
{
    out->data = grow(out->data, &out->room, out->size + 10, 1);
    for (; v >= 128; v >>= 7)
        out->data[out->size++] = (uint8_t)(v | 128);
    out->data[out->size++] = (uint8_t)v;
}

static void put_block(struct bytes *out, const void *data, size_t size)
{
    put(out, size);
    out->data = grow(out->data, &out->room, out->size + size + 1, 1);
    memcpy(out->data + out->size, data, size);
    out->size += size;
}

struct reading {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};

static uint64_t get(struct reading *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->size) {
            in->bad = true;
            return 0;
        }
        uint8_t byte = in->data[in->at++];
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    in->bad = true;
    return 0;
}

/* A number of things that follow, each of at least a byte. */
static size_t get_count(struct reading *in)
{
    uint64_t n = get(in);
    if (n > in->size - in->at) {
        in->bad = true;
        return 0;
    }
    return (size_t)n;
}

static const uint8_t *get_block(struct reading *in, size_t *size)
{
    *size = get_count(in);
    const uint8_t *data = in->data + in->at;
    in->at += *size;
    return data;
}

static void put_event_ref(struct bytes *out, struct ref ref)
{
    put(out, row_line_code(ref.line));
    put(out, ref.number);
}

static struct ref get_event_ref(struct reading *in)
{
    uint64_t code = get(in), number = get(in);
    return (struct ref){row_line_of(code), number};
}

/* ---- series ---- */

static void save_series(struct bytes *out, const struct series *series)
{
    put(out, series->count);
    for (unsigned level = 0; level < SERIES_LEVELS; level++) {
        uint64_t before = 0;
        for (uint32_t i = 0; i < series_tail(series, level); i++) {
            uint64_t value = series->tail[level] ? series->tail[level][i] : 0; /* released */
            put(out, value - before);
            before = value;
        }
    }
}

static void load_series(struct reading *in, struct series *series)
{
    series->count = get(in);
    for (unsigned level = 0; level < SERIES_LEVELS; level++) {
        uint32_t n = series_tail(series, level);
        uint64_t value = 0;
        size_t room = 0;
        if (in->bad || n > in->size - in->at) {
            in->bad = true;
            series->count = 0;
            return;
        }
        if (!n)
            continue;
        size_t power = 8;
        while (power < n)
            power *= 2;
        series->tail[level] = grow(NULL, &room, power, sizeof *series->tail[level]);
        for (uint32_t i = 0; i < n; i++)
            series->tail[level][i] = value += get(in);
    }
}

/* ---- lines ---- */

enum { SHARED = 1, CLOSED = 2, GONE = 4, DENSE = 8, AFTER_GAP = 16 };

static void save_line(struct bytes *out, const struct line *line)
{
    put(out, (line->shared ? SHARED : 0) | (line->closed == LINE_CLOSED ? CLOSED : 0) | (line->gone ? GONE : 0) |
                 (line->dense ? DENSE : 0) | (line->after_gap ? AFTER_GAP : 0));
    put(out, line->kind);
    put(out, line->delivered);
    put(out, line->acted);
    put(out, line->base);
    put(out, line->last + 1);
    put(out, line->tied + 1);
    put(out, line->highest);
    put_event_ref(out, line->opened_by);
    save_series(out, &line->positions);
    put(out, line->gap_count);
    for (size_t i = 0; i < line->gap_count; i++) {
        put(out, line->gaps[i].first);
        put(out, line->gaps[i].count);
        put(out, line->gaps[i].ordinal);
    }
    put(out, line->sits_count);
    for (size_t i = 0; i < line->sits_count; i++) {
        put(out, line->sits[i].thread);
        put(out, line->sits[i].presence);
        put(out, line->sits[i].since);
    }
    put(out, line->collector_count);
    for (size_t i = 0; i < line->collector_count; i++) {
        put(out, line->collectors[i].type);
        put(out, row_line_code(line->collectors[i].hidden));
        put(out, line->collectors[i].ordinal);
    }
    put(out, line->neighbour_count);
    for (size_t i = 0; i < line->neighbour_count; i++)
        put(out, row_line_code(line->neighbours[i]));
}

static void load_neighbours(struct reading *in, const struct order *order, struct line *line)
{
    size_t n = get_count(in), room = 0;
    if (n > NEIGHBOURS_MAX || in->bad) {
        in->bad = true;
        return;
    }
    line->neighbours = grow(NULL, &room, NEIGHBOURS_MAX, sizeof *line->neighbours);
    for (size_t i = 0; i < n; i++) {
        line->neighbours[i] = row_line_of(get(in));
        in->bad |= !order_get(order, line->neighbours[i]);
    }
    line->neighbour_count = (uint8_t)n;
}

static void load_line(struct reading *in, struct order *order, struct line *line)
{
    uint64_t flags = get(in);
    line->shared = flags & SHARED;
    order->has_shared |= line->shared;
    line->closed = flags & CLOSED ? LINE_CLOSED : LINE_OPEN;
    line->gone = flags & GONE;
    line->dense = flags & DENSE;
    line->after_gap = flags & AFTER_GAP;
    line->kind = (uint32_t)get(in);
    line->delivered = get(in);
    line->acted = get(in);
    line->base = get(in);
    line->last = get(in) - 1;
    line->tied = get(in) - 1;
    line->highest = get(in);
    line->opened_by = get_event_ref(in);
    load_series(in, &line->positions);
    size_t n = get_count(in);
    for (size_t i = 0; i < n && !in->bad; i++) {
        line->gaps = grow(line->gaps, &line->gap_room, i + 1, sizeof *line->gaps);
        struct gap *gap = &line->gaps[line->gap_count++];
        gap->first = get(in);
        gap->count = get(in);
        gap->ordinal = get(in);
    }
    line->has_gaps = line->gap_count > 0;
    n = get_count(in);
    for (size_t i = 0; i < n && !in->bad; i++) {
        line->sits = grow(line->sits, &line->sits_room, i + 1, sizeof *line->sits);
        struct sits *sits = &line->sits[line->sits_count++];
        sits->thread = (uint32_t)get(in);
        sits->presence = (uint8_t)get(in);
        sits->since = get(in);
        in->bad |= sits->presence > PRESENCE_AWAY;
    }
    n = get_count(in);
    for (size_t i = 0; i < n && !in->bad; i++) {
        line->collectors =
            grow(line->collectors, &line->collector_room, i + 1, sizeof *line->collectors);
        struct collector *collector = &line->collectors[line->collector_count++];
        collector->type = (uint32_t)get(in);
        collector->hidden = row_line_of(get(in));
        collector->ordinal = get(in);
        in->bad |= collector->hidden && !order_get(order, collector->hidden);
    }
    load_neighbours(in, order, line);
    in->bad |= line->base > line->positions.count || line->acted > order->count ||
               (line->positions.count && line->last >= order->count) ||
               (line->tied != NO_POSITION && line->tied >= order->count) ||
               line->positions.count > order->count;
}

/* ---- what lies beside the lines ---- */

static void save_late(struct bytes *out, const struct order *order)
{
    put(out, order->late.count);
    for (size_t i = 0; i < order->late.room; i++) {
        const struct late *late = order->late.entries[i].value;
        if (!late)
            continue;
        put(out, order->late.entries[i].a);
        put(out, late->count);
        for (size_t k = 0; k < late->count; k++)
            put(out, late->receives[k] - order->late.entries[i].a);
    }
}

static void load_late(struct reading *in, struct order *order)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        uint64_t send = get(in);
        for (size_t k = get_count(in); k && !in->bad; k--) {
            uint64_t distance = get(in);
            if (send >= order->count || distance == 0 || distance >= order->count - send)
                in->bad = true;
            else
                late_add(order, send, send + distance);
        }
    }
}

/* Of those who meet by a key, the delivered ones; the others come again. */
static void save_meetings(struct bytes *out, const struct order *order)
{
    for (size_t i = 0; i < order->meetings.room; i++) {
        const struct meeting *meeting = order->meetings.entries[i].value;
        size_t delivered = 0;
        for (size_t k = 0; meeting && !meeting->done && k < meeting->count; k++)
            delivered += !pending_is(order, meeting->members[k]);
        if (!delivered)
            continue;
        put(out, delivered);
        put(out, order->meetings.entries[i].a);
        put(out, order->meetings.entries[i].b);
        put(out, meeting->receives);
        put(out, meeting->expected);
        for (size_t k = 0; k < meeting->count; k++)
            if (!pending_is(order, meeting->members[k]))
                put_event_ref(out, meeting->members[k]);
    }
    put(out, 0);
}

static void load_meetings(struct reading *in, struct order *order)
{
    for (size_t n; (n = get_count(in)) != 0 && !in->bad;) {
        uint64_t a = get(in), b = get(in), receives = get(in), expected = get(in);
        for (; n && !in->bad; n--) {
            struct meeting *meeting = meeting_add(order, a, b, get_event_ref(in));
            meeting->receives = (uint32_t)receives;
            meeting->expected = (uint32_t)expected;
        }
    }
}

/* What was sent and not received; pending sends come again. */
static void save_streams(struct bytes *out, const struct order *order)
{
    for (size_t i = 0; i < order->streams.room; i++) {
        const struct stream *stream = order->streams.entries[i].value;
        for (size_t k = stream ? stream->first : 0; stream && k < stream->count; k++) {
            const struct stretch *s = &stream->sent[k];
            if (pending_is(order, s->send))
                continue;
            put(out, 1);
            put(out, order->streams.entries[i].a);
            put(out, s->begin);
            put(out, s->end - s->begin);
            put(out, s->left);
            put_event_ref(out, s->send);
        }
    }
    put(out, 0);
}

static void load_streams(struct reading *in, struct order *order)
{
    while (!in->bad && get(in) != 0) {
        uint64_t key = get(in), begin = get(in), bytes = get(in), left = get(in);
        struct ref send = get_event_ref(in);
        if (!in->bad)
            stream_add(order, key, (struct stretch){begin, begin + bytes, left, send});
    }
}

static void save_troubles(struct bytes *out, const struct order *order)
{
    put(out, order->trouble_count);
    for (size_t i = 0; i < order->trouble_count; i++) {
        put_event_ref(out, order->troubles[i].at);
        put_event_ref(out, order->troubles[i].with);
        put_block(out, order->troubles[i].why, strlen(order->troubles[i].why));
    }
}

static void load_troubles(struct reading *in, struct order *order)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct trouble trouble = {.at = get_event_ref(in), .with = get_event_ref(in)};
        size_t size;
        const uint8_t *why = get_block(in, &size);
        trouble.why = reason_of(order, (const char *)why, size);
        order->troubles = grow(order->troubles, &order->trouble_room, order->trouble_count + 1,
                               sizeof *order->troubles);
        order->troubles[order->trouble_count++] = trouble;
    }
}

/* ---- blocks ---- */

static void save_blocks(struct bytes *out, const struct order *order)
{
    uint64_t before = 0;
    put(out, order->packed);
    for (uint64_t i = 0; i < order->packed; i++) {
        put(out, order->blocks[i].place - before);
        before = order->blocks[i].place;
    }
    if (order->count % BLOCK_EVENTS == 0)
        return;
    size_t size;
    uint8_t *bytes = rows_pack(order->blocks[order->packed].rows, &size);
    put_block(out, bytes, size);
    free(bytes);
}

static void load_blocks(struct reading *in, struct order *order)
{
    uint64_t place = 0;
    order->packed = get_count(in);
    if (in->bad || order->packed != order->count / BLOCK_EVENTS) {
        in->bad = true;
        order->packed = order->count = 0;
        return;
    }
    order->blocks = grow(order->blocks, &order->block_room, order->packed + 1, sizeof *order->blocks);
    for (uint64_t i = 0; i < order->packed; i++)
        order->blocks[i] = (struct block){.place = place += get(in)};
    if (order->count % BLOCK_EVENTS == 0)
        return;
    size_t size, room = 0;
    const uint8_t *bytes = get_block(in, &size);
    uint8_t *copy = grow(NULL, &room, size + 8, 1);
    memcpy(copy, bytes, size);
    memset(copy + size, 0, 8);
    struct rows *rows = in->bad ? (free(copy), NULL)
                                : rows_load(copy, size, order->packed * BLOCK_EVENTS);
    if (!rows || rows->count != order->count % BLOCK_EVENTS) {
        in->bad = true;
        order->count = order->packed * BLOCK_EVENTS;
    } else {
        order->blocks[order->packed] = (struct block){.rows = rows_open_copy(rows)};
    }
    rows_free(rows);
}

/* The lines of the open block, too, must be there. */
static bool open_lines_fit(const struct order *order)
{
    if (order->count % BLOCK_EVENTS == 0)
        return true;
    const struct rows *rows = order->blocks[order->packed].rows;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!order_get(order, row_line_of(row_get(rows, i, ROW_LINE))))
            return false;
    return true;
}

/* ---- all of it ---- */

/* Older ones tell only by the rows what followed lost events. */
static void load_doubts(struct reading *in, struct order *order, uint64_t version)
{
    bool told = version != SAVE_WITHOUT_DOUBTS, lost = order->figures.lost || order->partners_lost;
    order->doubts = told ? get(in) : lost;
    order->first_doubt = told ? get(in) : 0;
    order->doubt_reasons = told ? (uint32_t)get(in) : lost ? UNSEEN_BIT(UNSEEN_LOST) : 0;
    order->forgotten_doubts = told ? (uint32_t)get(in) : order->first ? order->doubt_reasons : 0;
}

uint8_t *order_save(struct order *order, size_t *size)
{
    map_settle(&order->meetings);
    struct bytes out = {0};
    const struct order_figures *f = &order->figures;
    log_pack(order);
    put(&out, SAVE_VERSION);
    put(&out, order->count);
    put(&out, order->first);
    put(&out, order->partners_lost);
    put(&out, f->events);
    put(&out, f->hidden_events);
    put(&out, f->lost);
    put(&out, f->contradictions);
    put(&out, f->duplicates);
    put(&out, order->doubts);
    put(&out, order->first_doubt);
    put(&out, order->doubt_reasons);
    put(&out, order->forgotten_doubts);
    save_blocks(&out, order);
    put(&out, order->hidden_count);
    put(&out, order->line_count);
    for (size_t i = 0; i < order->hidden_count; i++)
        save_line(&out, &order->hidden[i]);
    for (size_t i = 0; i < order->line_count; i++) {
        save_line(&out, &order->lines[i]);
        line_trim(&order->lines[i]);
    }
    save_late(&out, order);
    save_meetings(&out, order);
    save_streams(&out, order);
    save_troubles(&out, order);
    *size = out.size;
    return out.data;
}

bool order_restore(struct order *order, const uint8_t *bytes, size_t size)
{
    struct reading in = {.data = bytes, .size = size};
    struct order_figures *f = &order->figures;
    uint64_t version = get(&in);
    if (order->count || order->hidden_count || (version != SAVE_VERSION && version != SAVE_WITHOUT_DOUBTS))
        return false;
    order->count = get(&in);
    order->first = get(&in);
    order->partners_lost = get(&in);
    f->events = get(&in);
    f->hidden_events = get(&in);
    f->lost = get(&in);
    f->contradictions = get(&in);
    f->duplicates = get(&in);
    load_doubts(&in, order, version);
    load_blocks(&in, order);
    size_t hidden = get_count(&in);
    in.bad |= get_count(&in) != order->line_count || order->first > order->count;
    uint32_t number;
    for (size_t i = 0; i < hidden && !in.bad; i++)
        line_new_hidden(order, 0, &number);
    for (size_t i = 0; i < hidden && !in.bad; i++)
        load_line(&in, order, &order->hidden[i]);
    for (size_t i = 0; i < order->line_count && !in.bad; i++)
        load_line(&in, order, &order->lines[i]);
    if (!in.bad)
        load_late(&in, order);
    if (!in.bad)
        load_meetings(&in, order);
    load_streams(&in, order);
    if (!in.bad)
        load_troubles(&in, order);
    return !in.bad && in.at == in.size && open_lines_fit(order);
}
