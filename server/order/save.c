/* Saving an order as one run of bytes, and getting it back: what is still growing, and where the rest
 * is on the shelf.  What is pending is not in it: its arrivals are to be accepted again. */
#include "server/order/inside.h"

#include <stdlib.h>
#include <string.h>

#define SAVE_VERSION 4u
#define SAVE_WHOLE_LINES 3u    /* an older one: every line with all of its fields */
#define SAVE_WITHOUT_DOUBTS 2u /* an older one still */

/* ---- bytes ---- */

struct bytes {
    uint8_t *data;
    size_t size, room;
};

/* Numbers in seven-bit groups, least first (LEB128). */
static void put(struct bytes *out, uint64_t v)
{
    if (out->room - out->size < 10)
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
    put(out, block_line_code(ref.line));
    put(out, ref.number);
}

static struct ref get_event_ref(struct reading *in)
{
    uint64_t code = get(in), number = get(in);
    return (struct ref){block_line_of(code), number};
}

/* ---- series ---- */

static void save_series(struct bytes *out, const struct series *series)
{
    put(out, series->count);
    for (unsigned level = 0; level < SERIES_LEVELS; level++) {
        uint64_t before = 0;
        const uint64_t *tail = series_node(series, level);
        for (uint32_t i = 0; i < series_tail(series, level); i++) {
            uint64_t value = tail ? tail[i] : 0; /* released */
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
        if (in->bad || n > in->size - in->at) {
            in->bad = true;
            series->count = 0;
            return;
        }
        if (!n)
            continue;
        uint64_t *tail = series_room(series, level, n);
        for (uint32_t i = 0; i < n; i++)
            tail[i] = value += get(in);
    }
}

/* ---- lines ---- */

/* What a line is, and which of its fields follow.  One without any of HAS_ALL is told together with those
 * behind it that are the same. */
enum {
    SHARED = 1,
    CLOSED = 2,
    GONE = 4,
    DENSE = 8,
    AFTER_GAP = 16,
    HAS_ACTED = 32,
    HAS_EVENTS = 64, /* some that are not forgotten */
    HAS_HIGHEST = 128,
    HAS_OPENER = 256,
    HAS_GAPS = 512,
    HAS_SITS = 1024,
    HAS_COLLECTORS = 2048,
    HAS_NEIGHBOURS = 4096,
    HAS_ALL = 8191 & ~31
};

static unsigned line_flags(const struct line *line)
{
    const struct more *more = line->more;
    return (line->shared ? SHARED : 0u) | (line->closed == LINE_CLOSED ? CLOSED : 0u) |
           (line->gone ? GONE : 0u) | (line->dense ? DENSE : 0u) | (line->after_gap ? AFTER_GAP : 0u) |
           (line->acted ? HAS_ACTED : 0u) |
           (line->base != line->positions.count ? HAS_EVENTS : 0u) |
           (line->highest > line->delivered ? HAS_HIGHEST : 0u) | (line->opened_line ? HAS_OPENER : 0u) |
           (more->gap_count ? HAS_GAPS : 0u) | (line->occupant_count ? HAS_SITS : 0u) |
           (more->collector_count ? HAS_COLLECTORS : 0u) | (line->neighbour_count ? HAS_NEIGHBOURS : 0u);
}

static void save_more(struct bytes *out, const struct line *line, unsigned flags)
{
    const struct more *more = line->more;
    if (flags & HAS_GAPS)
        put(out, more->gap_count);
    for (size_t i = 0; i < more->gap_count; i++) {
        put(out, more->gaps[i].first);
        put(out, more->gaps[i].count);
        put(out, more->gaps[i].ordinal);
    }
    if (flags & HAS_SITS)
        put(out, line->occupant_count);
    for (size_t i = 0; i < line->occupant_count; i++) {
        put(out, more->occupants[i].thread);
        put(out, more->occupants[i].presence);
        put(out, more->occupants[i].since);
    }
    if (flags & HAS_COLLECTORS)
        put(out, more->collector_count);
    for (size_t i = 0; i < more->collector_count; i++) {
        put(out, more->collectors[i].type);
        put(out, block_line_code(more->collectors[i].hidden));
        put(out, more->collectors[i].ordinal);
    }
    if (flags & HAS_NEIGHBOURS)
        put(out, line->neighbour_count);
    for (size_t i = 0; i < line->neighbour_count; i++)
        put(out, block_line_code(line_neighbours(line)[i]));
}

static void save_line(struct bytes *out, const struct line *line, unsigned flags)
{
    put(out, flags);
    put(out, line->kind);
    put(out, line->delivered);
    if (flags & HAS_ACTED)
        put(out, line->acted);
    if (flags & HAS_EVENTS) {
        put(out, line->base);
        put(out, line->last + 1);
        put(out, line->tied + 1);
    }
    if (flags & HAS_HIGHEST)
        put(out, line->highest);
    if (flags & HAS_OPENER)
        put_event_ref(out, line_opened_by(line));
    if (flags & HAS_EVENTS)
        save_series(out, &line->positions);
    else
        put(out, line->positions.count);
    save_more(out, line, flags);
}

static bool is_same(const struct line *a, const struct line *b, unsigned flags)
{
    return a->kind == b->kind && a->delivered == b->delivered && a->positions.count == b->positions.count &&
           line_flags(b) == flags;
}

static void save_lines(struct bytes *out, struct line *lines, size_t count)
{
    for (size_t i = 0, same; i < count; i += same) {
        unsigned flags = line_flags(&lines[i]);
        save_line(out, &lines[i], flags);
        line_trim(&lines[i]);
        same = 1;
        if (flags & HAS_ALL)
            continue;
        for (; i + same < count && is_same(&lines[i], &lines[i + same], flags); same++)
            line_trim(&lines[i + same]);
        put(out, same - 1);
    }
}

static void load_gaps(struct reading *in, struct line *line)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct more *more = line_more(line);
        more->gaps = grow(more->gaps, &more->gap_room, more->gap_count + 1, sizeof *more->gaps);
        struct gap *gap = &more->gaps[more->gap_count++];
        gap->first = get(in);
        gap->count = get(in);
        gap->ordinal = get(in);
    }
    line->has_gaps = line->more->gap_count > 0;
}

static void load_sits(struct reading *in, struct line *line)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct more *more = line_more(line);
        more->occupants = grow(more->occupants, &more->occupant_room, line->occupant_count + 1, sizeof *more->occupants);
        struct occupant *sits = &more->occupants[line->occupant_count++];
        sits->thread = (uint32_t)get(in);
        sits->presence = (uint8_t)get(in);
        sits->since = get(in);
        in->bad |= sits->presence > PRESENCE_AWAY;
    }
}

static void load_collectors(struct reading *in, const struct order *order, struct line *line)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct more *more = line_more(line);
        more->collectors =
            grow(more->collectors, &more->collector_room, more->collector_count + 1, sizeof *more->collectors);
        struct collector *collector = &more->collectors[more->collector_count++];
        collector->type = (uint32_t)get(in);
        collector->hidden = block_line_of(get(in));
        collector->ordinal = get(in);
        in->bad |= collector->hidden && !line_get(order, collector->hidden);
    }
}

static void load_neighbours(struct reading *in, const struct order *order, struct line *line)
{
    size_t n = get_count(in);
    in->bad |= n > NEIGHBOURS_MAX;
    for (; n && !in->bad; n--) {
        uint32_t other = block_line_of(get(in));
        in->bad |= !line_get(order, other);
        line_add_neighbour(line, other);
    }
}

static void load_events(struct reading *in, struct line *line)
{
    line->base = get(in);
    line->last = get(in) - 1;
    line->tied = get(in) - 1;
}

/* Which of the forgotten events was its last makes no difference, but that there was one does. */
static void load_forgotten(struct reading *in, const struct order *order, struct line *line)
{
    line->base = line->positions.count = get(in);
    in->bad |= line->base && !order->first;
    line->last = line->base ? order->first - 1 : NO_POSITION;
}

static bool line_fits(const struct order *order, const struct line *line)
{
    const uint64_t n = line->positions.count;
    return line->base <= n && n <= order->count && line->acted <= order->count &&
           (n == 0 || line->last < order->count) &&
           (line->tied == NO_POSITION || line->tied < order->count);
}

static unsigned load_line(struct reading *in, struct order *order, struct line *line, bool whole)
{
    unsigned flags = (unsigned)get(in) | (whole ? HAS_ALL : 0);
    line->shared = flags & SHARED;
    order->has_shared |= line->shared;
    line->closed = flags & CLOSED ? LINE_CLOSED : LINE_OPEN;
    line->gone = flags & GONE;
    line->dense = flags & DENSE;
    line->after_gap = flags & AFTER_GAP;
    line->kind = (uint32_t)get(in);
    line->delivered = get(in);
    line->acted = flags & HAS_ACTED ? get(in) : 0;
    if (flags & HAS_EVENTS)
        load_events(in, line);
    if (flags & HAS_HIGHEST)
        line->highest = get(in);
    if (flags & HAS_OPENER) {
        struct ref by = get_event_ref(in);
        line->opened_line = by.line;
        line->opened_number = by.number;
    } else {
        line->opened_line = 0; /* the name of the line told it, too */
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

static void load_same(struct line *line, const struct line *as)
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

static void load_lines(struct reading *in, struct order *order, struct line *lines, size_t count, bool whole)
{
    for (size_t i = 0; i < count && !in->bad; i++) {
        unsigned flags = load_line(in, order, &lines[i], whole);
        if (flags & HAS_ALL)
            continue;
        uint64_t same = get(in);
        in->bad |= same >= count - i;
        for (; same && !in->bad; same--, i++)
            load_same(&lines[i + 1], &lines[i]);
    }
}

/* ---- what lies beside the lines ---- */

static void save_late(struct bytes *out, const struct order *order)
{
    put(out, order->receives.count);
    for (size_t i = 0; i < order->receives.room; i++) {
        const struct receive_list *late = order->receives.entries[i].value;
        if (!late)
            continue;
        put(out, order->receives.entries[i].a);
        put(out, late->count);
        for (size_t k = 0; k < late->count; k++)
            put(out, late->receives[k] - order->receives.entries[i].a);
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
                receives_add(order, send, send + distance);
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
    uint8_t *bytes = block_pack(order->blocks[order->packed].rows, &size);
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
        order->blocks[i] = (struct kept_block){.place = place += get(in)};
    if (order->count % BLOCK_EVENTS == 0)
        return;
    size_t size, room = 0;
    const uint8_t *bytes = get_block(in, &size);
    uint8_t *copy = grow(NULL, &room, size + 8, 1);
    memcpy(copy, bytes, size);
    memset(copy + size, 0, 8);
    struct block *rows = in->bad ? (free(copy), NULL)
                                : block_load(copy, size, order->packed * BLOCK_EVENTS);
    if (!rows || rows->count != order->count % BLOCK_EVENTS) {
        in->bad = true;
        order->count = order->packed * BLOCK_EVENTS;
    } else {
        order->blocks[order->packed] = (struct kept_block){.rows = block_open_copy(rows)};
    }
    block_free(rows);
}

/* The lines of the open block, too, must be there. */
static bool open_lines_fit(const struct order *order)
{
    if (order->count % BLOCK_EVENTS == 0)
        return true;
    const struct block *rows = order->blocks[order->packed].rows;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!line_get(order, block_line_of(block_get(rows, i, FIELD_LINE))))
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
    save_lines(&out, order->hidden, order->hidden_count);
    save_lines(&out, order->lines, order->line_count);
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
    if (order->count || order->hidden_count || version > SAVE_VERSION || version < SAVE_WITHOUT_DOUBTS)
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
    bool whole = version <= SAVE_WHOLE_LINES;
    uint64_t hidden = get(&in);
    in.bad |= hidden > order->count || (whole && hidden > size); /* each has an event */
    in.bad |= get(&in) != order->line_count || order->first > order->count;
    uint32_t number;
    for (size_t i = 0; i < hidden && !in.bad; i++)
        line_new_hidden(order, 0, &number);
    if (!in.bad)
        load_lines(&in, order, order->hidden, order->hidden_count, whole);
    if (!in.bad)
        load_lines(&in, order, order->lines, order->line_count, whole);
    if (!in.bad)
        load_late(&in, order);
    if (!in.bad)
        load_meetings(&in, order);
    load_streams(&in, order);
    if (!in.bad)
        load_troubles(&in, order);
    return !in.bad && in.at == in.size && open_lines_fit(order);
}
