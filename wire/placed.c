#include "wire/placed.h"

#include "wire/limits.h"
#include "wire/ref.h"

#include <stdlib.h>

/* So many bytes, at least, each of them takes: more of them than fit are nonsense. */
enum {
    MEMBER_BYTES = 4 + 8,
    ROW_BYTES = 4 + 4 + PRESENCES_BYTES + 8 + 1,
    GAP_BYTES = 4 + 8 + 8,
    CROSSING_BYTES = 2 * REF_BYTES,
    VIA_BYTES = 2 * REF_BYTES + 4,
    EDGE_BYTES = 2 * REF_BYTES,
    STAY_BYTES = 4 + REF_BYTES + 4 + 1 + 4 + 8 + 8
};

static void put_events(struct out *out, const struct shown_event *events, uint32_t count)
{
    put_u32(out, count);
    for (uint32_t i = 0; i < count; i++)
        put_event(out, &events[i]);
}

static struct shown_event *get_events(struct in *in, uint32_t *count)
{
    uint32_t n = get_count(in, EVENT_BYTES);
    struct shown_event *events = get_room(in, n, sizeof *events);
    for (*count = 0; events && *count < n; ++*count)
        get_event(in, &events[*count]);
    return events;
}

/* What a viewer needs to tie the marks together. */
static void put_ties(struct out *out, const struct shown_window *w)
{
    for (uint32_t i = 0; w->by_time && i < w->event_count; i++)
        put_u64(out, w->events[i].behind);
    put_u32(out, w->edge_count);
    for (uint32_t i = 0; i < w->edge_count; i++) {
        put_ref(out, w->edges[i].from);
        put_ref(out, w->edges[i].to);
    }
    put_u32(out, w->stay_count);
    for (uint32_t i = 0; i < w->stay_count; i++) {
        const struct shown_stay *stay = &w->stays[i];
        put_u32(out, stay->thread);
        put_ref(out, stay->at);
        put_u32(out, stay->type);
        put_u8(out, stay->relation);
        put_u32(out, stay->about);
        put_u64(out, (uint64_t)stay->time_ns);
        put_u64(out, stay->home);
    }
}

static void get_ties(struct in *in, struct shown_window *w)
{
    for (uint32_t i = 0; w->by_time && i < w->event_count; i++)
        w->events[i].behind = get_u64(in);
    uint32_t n = get_count(in, EDGE_BYTES);
    w->edges = get_room(in, n, sizeof *w->edges);
    for (; w->edges && w->edge_count < n; w->edge_count++) {
        w->edges[w->edge_count].from = get_ref(in);
        w->edges[w->edge_count].to = get_ref(in);
    }
    n = get_count(in, STAY_BYTES);
    w->stays = get_room(in, n, sizeof *w->stays);
    for (; w->stays && w->stay_count < n; w->stay_count++) {
        struct shown_stay *stay = &w->stays[w->stay_count];
        stay->thread = get_u32(in);
        stay->at = get_ref(in);
        stay->type = get_u32(in);
        stay->relation = get_u8(in);
        stay->about = get_u32(in);
        stay->time_ns = (int64_t)get_u64(in);
        stay->home = get_u64(in);
    }
}

void put_window(struct out *out, const struct shown_window *w)
{
    put_u64(out, w->generation);
    put_u64(out, w->anchor);
    put_u64(out, w->count);
    put_u32(out, (uint32_t)w->from);
    put_u32(out, w->columns);
    put_u64(out, (uint64_t)w->time_ns);
    put_u32(out, (uint32_t)w->first);
    put_u32(out, (uint32_t)w->last);
    put_u8(out,
           (uint8_t)(w->more_left | w->more_right << 1 | w->unresolved << 2 | w->by_time << 3));
    put_u32(out, w->row_count);
    for (uint32_t i = 0; i < w->row_count; i++) {
        put_u32(out, w->rows[i].line);
        put_u32(out, w->rows[i].member_count);
        for (uint32_t k = 0; k < w->rows[i].member_count; k++) {
            put_u32(out, w->rows[i].members[k]);
            put_u64(out, w->rows[i].lefts[k]);
        }
        put_presences(out, w->rows[i].in);
        put_u64(out, w->rows[i].left);
        put_u8(out, w->rows[i].open);
    }
    put_events(out, w->events, w->event_count);
    put_events(out, w->pending, w->pending_count);
    put_u32(out, w->gap_count);
    for (uint32_t i = 0; i < w->gap_count; i++) {
        put_u32(out, w->gaps[i].line);
        put_u64(out, w->gaps[i].first);
        put_u64(out, w->gaps[i].count);
    }
    put_u32(out, w->crossing_count);
    for (uint32_t i = 0; i < w->crossing_count; i++) {
        put_ref(out, w->crossings[i].from);
        put_ref(out, w->crossings[i].to);
    }
    put_u32(out, w->via_count);
    for (uint32_t i = 0; i < w->via_count; i++) {
        put_ref(out, w->vias[i].from);
        put_ref(out, w->vias[i].to);
        put_u32(out, w->vias[i].line);
    }
    put_u64(out, w->idle_lines);
    put_u64(out, w->left_lines);
    put_ties(out, w);
    put_u64(out, w->discarded);
}

/* Whoever draws it counts columns from the first that holds something to the last; not if it is placed by time. */
static void check_columns(struct in *in, const struct shown_window *w)
{
    int64_t columns = (int64_t)w->last - w->first;
    if (w->event_count && (columns < 0 || (!w->by_time && columns >= LIMIT_COLUMNS)))
        in_fail(in, "a window has impossible columns");
    if (w->time_ns > INT64_MAX / 4 || w->time_ns < INT64_MIN / 4)
        in_fail(in, "a window at an impossible time");
    for (uint32_t i = 0; i < w->event_count; i++)
        if (w->events[i].column < w->first || w->events[i].column > w->last)
            in_fail(in, "an event lies outside of its window's columns");
}

void get_window(struct in *in, struct shown_window *w)
{
    *w = (struct shown_window){.generation = get_u64(in)};
    w->anchor = get_u64(in);
    w->count = get_u64(in);
    w->from = (int32_t)get_u32(in);
    w->columns = get_u32(in);
    w->time_ns = (int64_t)get_u64(in);
    w->first = (int32_t)get_u32(in);
    w->last = (int32_t)get_u32(in);
    uint8_t flags = get_u8(in);
    w->more_left = flags & 1;
    w->more_right = flags & 2;
    w->unresolved = flags & 4;
    w->by_time = flags & 8;
    uint32_t n = get_count(in, ROW_BYTES);
    w->rows = get_room(in, n, sizeof *w->rows);
    for (; w->rows && w->row_count < n; w->row_count++) {
        struct shown_row *row = &w->rows[w->row_count];
        row->line = get_u32(in);
        uint32_t members = get_count(in, MEMBER_BYTES);
        row->members = get_room(in, members, sizeof *row->members);
        row->lefts = get_room(in, members, sizeof *row->lefts);
        for (; row->members && row->lefts && row->member_count < members; row->member_count++) {
            row->members[row->member_count] = get_u32(in);
            row->lefts[row->member_count] = get_u64(in);
        }
        row->in = get_presences(in);
        row->left = get_u64(in);
        row->open = get_u8(in);
    }
    w->events = get_events(in, &w->event_count);
    check_columns(in, w);
    w->pending = get_events(in, &w->pending_count);
    n = get_count(in, GAP_BYTES);
    w->gaps = get_room(in, n, sizeof *w->gaps);
    for (; w->gaps && w->gap_count < n; w->gap_count++) {
        struct shown_gap *gap = &w->gaps[w->gap_count];
        gap->line = get_u32(in);
        gap->first = get_u64(in);
        gap->count = get_u64(in);
    }
    n = get_count(in, CROSSING_BYTES);
    w->crossings = get_room(in, n, sizeof *w->crossings);
    for (; w->crossings && w->crossing_count < n; w->crossing_count++) {
        w->crossings[w->crossing_count].from = get_ref(in);
        w->crossings[w->crossing_count].to = get_ref(in);
    }
    n = get_count(in, VIA_BYTES);
    w->vias = get_room(in, n, sizeof *w->vias);
    for (; w->vias && w->via_count < n; w->via_count++) {
        w->vias[w->via_count].from = get_ref(in);
        w->vias[w->via_count].to = get_ref(in);
        w->vias[w->via_count].line = get_u32(in);
    }
    w->idle_lines = get_u64(in);
    w->left_lines = get_u64(in);
    get_ties(in, w);
    w->discarded = get_u64(in);
}

void shown_window_free(struct shown_window *w)
{
    for (uint32_t i = 0; i < w->event_count; i++)
        shown_event_free(&w->events[i]);
    for (uint32_t i = 0; i < w->pending_count; i++)
        shown_event_free(&w->pending[i]);
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
    free(w->stays);
    *w = (struct shown_window){0};
}

void put_density(struct out *out, const struct shown_density *d)
{
    put_u64(out, (uint64_t)d->from);
    put_u64(out, (uint64_t)d->to);
    put_u32(out, d->pixels);
    put_u32(out, d->row_count);
    for (uint32_t i = 0; i < d->row_count; i++)
        put_u32(out, d->rows[i]);
    for (size_t i = 0; i < (size_t)d->row_count * d->pixels; i++) {
        put_u32(out, d->counts[i]);
        put_u64(out, d->blocked_ns[i]);
    }
}

void get_density(struct in *in, struct shown_density *d)
{
    *d = (struct shown_density){.from = (int64_t)get_u64(in)};
    d->to = (int64_t)get_u64(in);
    uint32_t pixels = get_u32(in), n = get_count(in, 4);
    if (pixels > LIMIT_PIXELS || (pixels && n > in_left(in) / 4 / (1 + 3 * (size_t)pixels))) {
        in_fail(in, "a density of an impossible size");
        return;
    }
    size_t cells = (size_t)n * pixels;
    d->rows = get_room(in, n, sizeof *d->rows);
    d->counts = get_room(in, cells, sizeof *d->counts);
    d->blocked_ns = get_room(in, cells, sizeof *d->blocked_ns);
    if (in->error || (cells && (!d->rows || !d->counts || !d->blocked_ns)))
        return;
    d->pixels = pixels;
    d->row_count = n;
    for (uint32_t i = 0; i < n; i++)
        d->rows[i] = get_u32(in);
    for (size_t i = 0; i < cells; i++) {
        d->counts[i] = get_u32(in);
        d->blocked_ns[i] = get_u64(in);
    }
}

void shown_density_free(struct shown_density *d)
{
    free(d->rows);
    free(d->counts);
    free(d->blocked_ns);
    *d = (struct shown_density){0};
}
