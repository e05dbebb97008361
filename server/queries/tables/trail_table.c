/* Table of the critical path for the overview: for each of many pixels, the threads that the
 * path is on, with their shares, and the thread that it came from.  Successive pixels that
 * belong to one thread completely are one row.  Options: "begin" and "end": the range, ns of the
 * run, or positions by "order"; "pixels": their number. */
#include "base/alloc.h"
#include "server/queries/tables/path_baseline.h"
#include "wire/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row: pixels first .. end - 1 of a thread. */
struct trail_slice {
    uint32_t thread, first, end;
    uint32_t after; /* thread line that the path came from first; 0: it was here before */
    uint32_t hops; /* how often the path came from another thread */
    double pixels; /* length of the path on this thread, in pixels */
};

struct trail_work {
    const struct table_view *view;
    struct path_baseline *basis;
    double begin, scale; /* scale: pixels per ns, or per position */
    uint32_t pixels;
    bool by_order;
    size_t piece; /* index of the next piece */
    double at; /* end of the previous piece */
    struct trail_slice *slices;
    size_t count, room;
    size_t open; /* rows from here on belong to the pixel that is not complete */
};

/* ---- the request ---- */

#define MOST 1e19 /* limit of times and positions */

static double trail_table_option(const struct table_view *view, const char *key)
{
    const char *value = table_option(view->request, key);
    return value ? strtod(value, NULL) : 0;
}

static void *trail_table_begin(const struct table_view *view, struct error *error)
{
    double from = trail_table_option(view, "begin"), to = trail_table_option(view, "end"),
           pixels = trail_table_option(view, "pixels");
    bool known = from >= -MOST && to <= MOST && from < to; /* (false for NaN) */
    if (!known || !(pixels >= 1 && pixels <= LIMIT_PIXELS)) {
        error_set(error, "trail: missing range or number of pixels");
        return NULL;
    }
    struct trail_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->pixels = (uint32_t)pixels;
    w->begin = from;
    w->scale = w->pixels / (to - from);
    w->by_order = strcmp(view->request->by, "order") == 0;
    w->basis = path_baseline_acquire(view, (struct event_id){0});
    if (!w->basis->whole && !w->basis->followed)
        critical_path_begin(&w->basis->path, view->measured, 0, view->to_ns);
    return w;
}

static void trail_table_drop(void *p)
{
    struct trail_work *w = p;
    path_baseline_release(w->view->run, w->basis);
    free(w->slices);
    free(w);
}

/* ---- division into pixels ---- */

static double pixel_of(const struct trail_work *w, double at)
{
    double x = (at - w->begin) * w->scale;
    return x < 0 ? 0 : x > w->pixels ? w->pixels : x;
}

/* Returns the thread from which the path came to a piece; 0 if it was on the same one before. */
static uint32_t came_from(const struct critical_path *path, size_t piece)
{
    const struct path_piece *now = &path->pieces[piece], *before = piece ? now - 1 : now;
    return before->thread != now->thread ? before->thread : 0;
}

/* Returns the thread's row in the pixel that is not complete, or a new row. */
static struct trail_slice *slice_of(struct trail_work *w, uint32_t thread, uint32_t pixel)
{
    if (w->open < w->count && w->slices[w->open].first != pixel)
        w->open = w->count;
    for (size_t i = w->open; i < w->count; i++)
        if (w->slices[i].thread == thread)
            return &w->slices[i];
    w->slices = array_reserve(w->slices, &w->room, w->count + 1, sizeof *w->slices);
    w->slices[w->count] = (struct trail_slice){.thread = thread, .first = pixel, .end = pixel + 1};
    return &w->slices[w->count++];
}

static void add_to(struct trail_slice *s, double pixels, uint32_t after)
{
    s->pixels += pixels;
    s->hops += after != 0;
    s->after = s->after ? s->after : after;
}

/* Adds a piece, given its borders in pixels; one of length 0 is shown in its pixel, too. */
static void add_piece(struct trail_work *w, uint32_t thread, double from, double to, uint32_t after)
{
    uint32_t first = (uint32_t)from, whole = (uint32_t)ceil(from), end = (uint32_t)to;
    first = first < w->pixels ? first : w->pixels - 1;
    if (first < whole || from == to) {
        add_to(slice_of(w, thread, first), (to < whole ? to : whole) - from, after);
        after = 0;
    }
    if (whole < end) {
        struct trail_slice *s = slice_of(w, thread, whole);
        add_to(s, end - whole, after);
        s->end = end;
        w->open = w->count;
        after = 0;
    }
    if (end >= whole && end < to)
        add_to(slice_of(w, thread, end), to - end, after);
}

/* Returns the end of a piece, in ns or as a position; positions along the path never decrease. */
static double end_of(const struct trail_work *w, const struct path_piece *piece)
{
    if (!w->by_order)
        return (double)piece->to_ns;
    bool known = piece->position != NO_POSITION && (double)piece->position > w->at;
    return known ? (double)piece->position : w->at;
}

static double start_of(const struct trail_work *w)
{
    const struct path_piece *first = w->basis->path.pieces;
    const struct thread_timeline *c = intervals_for_thread(w->view->measured, first->thread);
    if (!w->by_order)
        return (double)first->from_ns;
    return (double)(c && c->start < first->position ? c->start : first->position);
}

static void trail_table_next_slice(struct trail_work *w)
{
    const struct critical_path *path = &w->basis->path;
    const struct path_piece *piece = &path->pieces[w->piece];
    if (!w->piece)
        w->at = start_of(w);
    double from = w->at, end = w->begin + w->pixels / w->scale;
    w->at = end_of(w, piece);
    if (w->at >= w->begin && from < end)
        add_piece(w, piece->thread, pixel_of(w, from), pixel_of(w, w->at),
                  from >= w->begin ? came_from(path, w->piece) : 0);
    w->piece++;
}

static bool trail_table_step(void *p, uint64_t *budget)
{
    struct trail_work *w = p;
    if (!w->basis->whole && !w->basis->followed) {
        w->basis->followed = critical_path_step(&w->basis->path, *budget);
        return false;
    }
    for (uint64_t left = *budget; w->piece < w->basis->path.count; left--) {
        if (!left)
            return false;
        trail_table_next_slice(w);
    }
    return true;
}

/* ---- table ---- */

enum trail_column { THREAD, FROM, UNTIL, SHARE, HOPS, FROM_THREAD };

static const struct column_definition trail_table_columns[] = {
    [THREAD] = {"thread", .kind = TABLE_LINE}, [FROM] = {"from", .kind = TABLE_COUNT},
    [UNTIL] = {"until", .kind = TABLE_COUNT},  [SHARE] = {"share", .kind = TABLE_SHARE},
    [HOPS] = {"hops", .kind = TABLE_COUNT},    [FROM_THREAD] = {"from_thread", .kind = TABLE_LINE},
};

static void trail_table_fill(void *p, const struct table_view *view, struct result_table *t)
{
    struct trail_work *w = p;
    t->title = xstrdup("critical path overview");
    table_add_columns(t, trail_table_columns,
                      sizeof trail_table_columns / sizeof *trail_table_columns);
    for (size_t i = 0; i < w->count; i++) {
        const struct trail_slice *s = &w->slices[i];
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            break;
        cells[THREAD] = table_cell_line(s->thread);
        cells[FROM] = table_cell_number(s->first);
        cells[UNTIL] = table_cell_number(s->end);
        cells[SHARE] = table_cell_real(s->pixels / (s->end - s->first));
        cells[HOPS] = table_cell_number(s->hops);
        cells[FROM_THREAD] = table_cell_line(s->after);
        table_row_line(t, s->thread);
    }
    table_arrange(t, view->request, NULL);
}

static const char *const trail_table_groupings[] = {"time", "order", NULL};

const struct table_preset preset_path_intervals = {.what = "path_intervals",
                                                   .by = trail_table_groupings,
                                                   .begin = trail_table_begin,
                                                   .step = trail_table_step,
                                                   .fill = trail_table_fill,
                                                   .free = trail_table_drop};
