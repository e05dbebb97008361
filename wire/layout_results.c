#include "wire/layout_results.h"

#include "wire/event_types.h"
#include "wire/fields.h"
#include "wire/limits.h"

#include <stdlib.h>

/* ---- fields ---- */

/* clang-format off */
#define EDGE_FIELDS(F, o) F(event_id, o, from) F(event_id, o, to)
#define VIA_FIELDS(F, o) EDGE_FIELDS(F, o) F(u32, o, line)
#define GAP_FIELDS(F, o) F(u32, o, line) F(u64, o, first) F(u64, o, count)
#define PLACEMENT_FIELDS(F, o) \
    F(u32, o, thread) F(event_id, o, at) F(u32, o, type) F(u8, o, relation) F(u32, o, about) \
    F(i64, o, time_ns) F(u64, o, home)
#define WINDOW_FIELDS(F, o) \
    F(u64, o, generation) F(u64, o, anchor) F(u64, o, count) F(i32, o, from) F(u32, o, columns) \
    F(i64, o, time_ns) F(i32, o, first) F(i32, o, last)
/* clang-format on */

#define MEMBER_BYTES (4 + 8)
#define ROW_BYTES (4 + 4 + OCCUPANTS_BYTES + 8 + 1)

static void encode_events(struct encoder *out, const struct event_info *events, uint32_t count)
{
    encode_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        encode_event_info(out, &events[i]);
}

static struct event_info *decode_events(struct decoder *in, uint32_t *count)
{
    uint32_t n = decode_count(in, EVENT_BYTES);
    struct event_info *events = decode_array(in, n, sizeof *events);
    for (*count = 0; events && *count < n; ++*count)
        decode_event_info(in, &events[*count]);
    return events;
}

/* Encodes what connects the marks: preceding events if placed by time, order edges, placements. */
static void encode_ties(struct encoder *out, const struct window_info *w)
{
    for (uint32_t i = 0; w->by_time && i < w->event_count; i++)
        encode_u64(out, w->events[i].behind);
    ENCODE_LIST(w->edges, w->edge_count, EDGE_FIELDS);
    ENCODE_LIST(w->placements, w->placement_count, PLACEMENT_FIELDS);
}

static void decode_ties(struct decoder *in, struct window_info *w)
{
    for (uint32_t i = 0; w->by_time && i < w->event_count; i++)
        w->events[i].behind = decode_u64(in);
    DECODE_LIST(w->edges, w->edge_count, EDGE_FIELDS);
    DECODE_LIST(w->placements, w->placement_count, PLACEMENT_FIELDS);
}

void encode_window(struct encoder *out, const struct window_info *w)
{
    WINDOW_FIELDS(FIELD_ENCODE, w)
    encode_u8(out,
              (uint8_t)(w->more_left | w->more_right << 1 | w->unresolved << 2 | w->by_time << 3));
    encode_u32(out, w->row_count);
    for (uint32_t i = 0; i < w->row_count; i++) {
        encode_u32(out, w->rows[i].line);
        encode_u32(out, w->rows[i].member_count);
        for (uint32_t k = 0; k < w->rows[i].member_count; k++) {
            encode_u32(out, w->rows[i].members[k]);
            encode_u64(out, w->rows[i].lefts[k]);
        }
        encode_occupants(out, w->rows[i].in);
        encode_u64(out, w->rows[i].left);
        encode_u8(out, w->rows[i].open);
    }
    encode_events(out, w->events, w->event_count);
    encode_events(out, w->pending, w->pending_count);
    ENCODE_LIST(w->gaps, w->gap_count, GAP_FIELDS);
    ENCODE_LIST(w->crossings, w->crossing_count, EDGE_FIELDS);
    ENCODE_LIST(w->vias, w->via_count, VIA_FIELDS);
    encode_u64(out, w->idle_lines);
    encode_u64(out, w->left_lines);
    encode_ties(out, w);
    encode_u64(out, w->discarded);
}

/* Limits the columns: clients allocate all from the first to the last nonempty one, unless the
 * window is placed by time. */
static void check_columns(struct decoder *in, const struct window_info *w)
{
    int64_t columns = (int64_t)w->last - w->first;
    if (w->event_count && (columns < 0 || (!w->by_time && columns >= LIMIT_COLUMNS)))
        decoder_fail(in, "invalid window columns");
    if (w->time_ns > INT64_MAX / 4 || w->time_ns < INT64_MIN / 4)
        decoder_fail(in, "invalid window time");
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i].column < w->first || w->events[i].column > w->last)
            decoder_fail(in, "event outside of its window's columns");
}

void decode_window(struct decoder *in, struct window_info *w)
{
    *w = (struct window_info){0};
    WINDOW_FIELDS(FIELD_DECODE, w)
    uint8_t flags = decode_u8(in);
    w->more_left = flags & 1;
    w->more_right = flags & 2;
    w->unresolved = flags & 4;
    w->by_time = flags & 8;
    uint32_t n = decode_count(in, ROW_BYTES);
    w->rows = decode_array(in, n, sizeof *w->rows);
    for (; w->rows && w->row_count < n; w->row_count++) {
        struct row_info *row = &w->rows[w->row_count];
        row->line = decode_u32(in);
        uint32_t members = decode_count(in, MEMBER_BYTES);
        row->members = decode_array(in, members, sizeof *row->members);
        row->lefts = decode_array(in, members, sizeof *row->lefts);
        for (; row->members && row->lefts && row->member_count < members; row->member_count++) {
            row->members[row->member_count] = decode_u32(in);
            row->lefts[row->member_count] = decode_u64(in);
        }
        row->in = decode_occupants(in);
        row->left = decode_u64(in);
        row->open = decode_u8(in);
    }
    w->events = decode_events(in, &w->event_count);
    check_columns(in, w);
    w->pending = decode_events(in, &w->pending_count);
    DECODE_LIST(w->gaps, w->gap_count, GAP_FIELDS);
    DECODE_LIST(w->crossings, w->crossing_count, EDGE_FIELDS);
    DECODE_LIST(w->vias, w->via_count, VIA_FIELDS);
    w->idle_lines = decode_u64(in);
    w->left_lines = decode_u64(in);
    decode_ties(in, w);
    w->discarded = decode_u64(in);
}

void window_info_free(struct window_info *w)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        event_info_free(&w->events[i]);
    for (uint32_t i = 0; i < w->pending_count; i++)
        event_info_free(&w->pending[i]);
    for (uint32_t i = 0; i < w->row_count; i++) {
        free(w->rows[i].members);
        free(w->rows[i].lefts);
    }
    free(w->events);
    free(w->pending);
    free(w->rows);
    free(w->gaps);
    free(w->crossings);
    free(w->vias);
    free(w->edges);
    free(w->placements);
    *w = (struct window_info){0};
}

void encode_density(struct encoder *out, const struct density_info *d)
{
    encode_u64(out, (uint64_t)d->from);
    encode_u64(out, (uint64_t)d->to);
    encode_u32(out, d->pixels);
    encode_u32(out, d->row_count);
    for (uint32_t i = 0; i < d->row_count; i++)
        encode_u32(out, d->rows[i]);
    for (size_t i = 0; i < (size_t)d->row_count * d->pixels; i++) {
        encode_u32(out, d->counts[i]);
        encode_u64(out, d->blocked_ns[i]);
    }
}

void decode_density(struct decoder *in, struct density_info *d)
{
    *d = (struct density_info){.from = (int64_t)decode_u64(in)};
    d->to = (int64_t)decode_u64(in);
    uint32_t pixels = decode_u32(in), n = decode_count(in, 4);
    if (pixels > LIMIT_PIXELS ||
        (pixels && n > decoder_remaining(in) / 4 / (1 + 3 * (size_t)pixels))) {
        decoder_fail(in, "invalid density size");
        return;
    }
    size_t cells = (size_t)n * pixels;
    d->rows = decode_array(in, n, sizeof *d->rows);
    d->counts = decode_array(in, cells, sizeof *d->counts);
    d->blocked_ns = decode_array(in, cells, sizeof *d->blocked_ns);
    if (in->error || (cells && (!d->rows || !d->counts || !d->blocked_ns)))
        return;
    d->pixels = pixels;
    d->row_count = n;
    for (uint32_t i = 0; i < n; i++)
        d->rows[i] = decode_u32(in);
    for (size_t i = 0; i < cells; i++) {
        d->counts[i] = decode_u32(in);
        d->blocked_ns[i] = decode_u64(in);
    }
}

void density_info_free(struct density_info *d)
{
    free(d->rows);
    free(d->counts);
    free(d->blocked_ns);
    *d = (struct density_info){0};
}
