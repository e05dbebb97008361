#define _GNU_SOURCE
#include "clients/viewer/diagram/path_overlay.h"

#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"
#include "render/text_cache.h"

#include <stdlib.h>

#define EVERY_US 1000000 /* between requests, while the run grows */
#define BEYOND_US 100000 /* if the visible range was not requested yet */

/* A piece of the path in the scene: along row, after a hop from from_row if that is another one. */
struct path_overlay_stretch {
    int from_row, row;
    double from_pt, to_pt;
};

struct path_overlay {
    struct table_model path;
    uint32_t *order; /* rows of its table, sorted by time */
    GArray *stretches;
    int64_t from_ns, to_ns; /* range of the last request */
    bool stale; /* the run has grown since the request */
    bool made; /* the stretches are those of this scene */
    guint soon;
    struct table_cell marks; /* the code segment of the events to be marked; CELL_NULL: none */
};

static const struct viewer_addon path_overlay_addon = {"path_overlay", sizeof(struct path_overlay)};

static struct path_overlay *path_overlay_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &path_overlay_addon);
}

/* The first columns of the table "path" by pieces; more may follow. */
enum path_overlay_column { THREAD, TOOK, STEP, FROM, IS, UNTIL, COLUMNS };

/* ---- requests ---- */

static const struct table_cell *cell_of(const struct path_overlay *k, uint32_t row,
                                        enum path_overlay_column column)
{
    return &result_table_cells(&k->path.table, row)[column];
}

static int64_t from_of(const struct path_overlay *k, uint32_t row)
{
    return cell_of(k, row, FROM)->number;
}

static int path_overlay_compare_time(const void *a, const void *b, void *user)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t p = from_of(user, x), q = from_of(user, y);
    return p != q ? (p < q ? -1 : 1) : x < y ? -1 : x > y;
}

static bool same_step(const struct table_cell *a, const struct table_cell *b)
{
    if (a->is != b->is || a->is != CELL_STEP)
        return false;
    return a->step == b->step && a->between.from.address == b->between.from.address &&
           a->between.from.process == b->between.from.process &&
           a->between.to.address == b->between.to.address;
}

static void mark_step(struct view *view, struct path_overlay *k)
{
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event_id));
    for (uint32_t i = 0; i < k->path.table.row_count && k->path.table.column_count >= COLUMNS; i++)
        if (same_step(cell_of(k, i, STEP), &k->marks))
            g_array_append_val(events, k->path.table.rows[i].event);
    highlights_add(&view->highlights, (struct event_id *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
    k->marks.is = CELL_NULL;
    notifier_emit(&view->notifier, NOTIFY_HITS);
}

static void path_overlay_on_table(void *user)
{
    struct view *view = user;
    struct path_overlay *k = path_overlay_find(view);
    if (!k->path.fresh)
        return;
    k->path.fresh = k->made = false;
    uint32_t count = k->path.table.column_count >= COLUMNS ? k->path.table.row_count : 0;
    k->order = g_renew(uint32_t, k->order, count + 1);
    for (uint32_t i = 0; i < count; i++)
        k->order[i] = i;
    qsort_r(k->order, count, sizeof *k->order, path_overlay_compare_time, k);
    if (k->marks.is)
        mark_step(view, k);
    gtk_widget_queue_draw(view->canvas);
}

static struct path_overlay *path_overlay_state(struct view *view)
{
    struct path_overlay *state = path_overlay_find(view);
    if (!state) {
        state = viewer_addons_add(&view->addons, &path_overlay_addon);
        state->stretches = g_array_new(FALSE, FALSE, sizeof(struct path_overlay_stretch));
        state->stale = true;
        state->path = (struct table_model){
            .link = &view->server_link, .on_table = path_overlay_on_table, .user = view};
    }
    return state;
}

static void path_overlay_set_ns_option(struct table_request *request, const char *key, int64_t ns)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)ns);
    table_model_set_option(request, key, text);
}

/* Requests the visible range and as much on either side; the whole path to mark its events. */
static void path_overlay_request(struct view *view, struct path_overlay *k)
{
    struct table_request request = table_model_request("path", "piece");
    const struct time_axis *axis = k->marks.is ? NULL : time_axis_of(view);
    k->from_ns = INT64_MIN;
    k->to_ns = INT64_MAX;
    if (axis) {
        time_axis_span(axis, &k->from_ns, &k->to_ns);
        int64_t more = k->to_ns - k->from_ns;
        path_overlay_set_ns_option(&request, "begin", k->from_ns -= more);
        path_overlay_set_ns_option(&request, "end", k->to_ns += more);
    }
    k->stale = false;
    table_model_send(&k->path, &request);
}

/* Returns whether the visible range exceeds that of the last request. */
static bool is_beyond(struct view *view, const struct path_overlay *k)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t from, to;
    if (!axis)
        return false;
    time_axis_span(axis, &from, &to);
    return from < k->from_ns || to > k->to_ns;
}

static void path_overlay_request_soon(void *user)
{
    struct view *view = user;
    struct path_overlay *k = path_overlay_state(view);
    gint64 since = g_get_monotonic_time() - k->path.asked_us;
    bool beyond = is_beyond(view, k);
    if (!(k->stale || beyond) || k->soon || !view->server_link.connected ||
        !view->server_link.has_run)
        return;
    if (since >= (beyond ? BEYOND_US : EVERY_US) && !table_model_is_running(&k->path))
        path_overlay_request(view, k);
    else
        request_slot_schedule(&k->soon, 50, path_overlay_request_soon, view);
}

void path_overlay_on_notification(struct view *view, enum notification what)
{
    struct path_overlay *k = path_overlay_state(view);
    if (what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET)
        k->stale = true;
    if (what == NOTIFY_DIAGRAM)
        k->made = false;
    if (view->viewer_settings.path && !view->viewport.place.overview)
        path_overlay_request_soon(view);
}

void path_overlay_clear(struct view *view)
{
    struct path_overlay *k = path_overlay_state(view);
    table_model_clear(&k->path);
    g_clear_handle_id(&k->soon, g_source_remove);
    k->stale = true;
    k->made = false;
    k->marks.is = CELL_NULL;
}

void path_overlay_mark_step(struct view *view, const struct table_cell *step)
{
    struct path_overlay *k = path_overlay_state(view);
    k->marks = *step;
    if (step->is != CELL_STEP)
        k->marks.is = CELL_NULL;
    else if (k->path.has_answer && !k->stale && k->from_ns == INT64_MIN)
        mark_step(view, k);
    else
        path_overlay_request(view, k);
}

bool path_overlay_is_busy(struct view *view)
{
    struct path_overlay *k = path_overlay_state(view);
    bool wanted =
        view->viewer_settings.path && !view->viewport.place.overview && view->scene_cache.scene;
    return wanted && (table_model_is_running(&k->path) ||
                      (k->soon && (!k->path.has_answer || is_beyond(view, k))));
}

/* ---- pieces in the scene ---- */

/* By order, columns have no times: a piece is placed by the event that ends it. */
static void path_overlay_add_piece(struct view *view, struct path_overlay *k,
                                   const struct time_axis *axis, uint32_t piece)
{
    bool timed = view->viewport.place.column_ns > 0;
    int64_t from = from_of(k, piece), to = from + cell_of(k, piece, TOOK)->number;
    const struct path_overlay_stretch *last =
        k->stretches->len
            ? &g_array_index(k->stretches, struct path_overlay_stretch, k->stretches->len - 1)
            : NULL;
    const struct scene_mark *until = time_axis_find_mark(axis, k->path.table.rows[piece].event);
    int row = time_axis_row_of_line(view, cell_of(k, piece, THREAD)->line);
    if (!timed && !until)
        return;
    double x0 = last    ? last->to_pt
                : timed ? time_axis_x_pt(axis, from)
                        : time_axis_x_pt(axis, INT64_MIN),
           x1 = until ? until->x_pt : time_axis_x_pt(axis, to);
    struct path_overlay_stretch s = {last ? last->row : row, row, x0, MAX(x0, x1)};
    g_array_append_val(k->stretches, s);
}

static void path_overlay_build_stretches(struct view *view, struct path_overlay *k)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t first, last;
    uint32_t count = k->path.table.column_count >= COLUMNS ? k->path.table.row_count : 0, at = 0;
    k->made = true;
    g_array_set_size(k->stretches, 0);
    if (!axis)
        return;
    time_axis_span(axis, &first, &last);
    while (at < count && from_of(k, k->order[at]) + cell_of(k, k->order[at], TOOK)->number < first)
        at++;
    for (; at < count && from_of(k, k->order[at]) <= last; at++)
        path_overlay_add_piece(view, k, axis, k->order[at]);
}

/* ---- drawing ---- */

static bool path_overlay_is_visible(const struct view *view, int row, double y)
{
    bool pinned = row >= 0 && (uint32_t)row < view->scene_cache.pinned;
    return row >= 0 && (pinned || y >= viewport_band_px(&view->viewport));
}

static void draw_stretch(struct view *view, cairo_t *cr, const struct path_overlay_stretch *s,
                         int width)
{
    double x0 = time_axis_screen_x(view, s->from_pt), x1 = time_axis_screen_x(view, s->to_pt);
    double y = s->row >= 0 ? viewport_y_px(&view->viewport, (uint32_t)s->row) : 0,
           y0 = s->from_row >= 0 ? viewport_y_px(&view->viewport, (uint32_t)s->from_row) : 0;
    if (x1 < -10 || x0 > width + 10 || !path_overlay_is_visible(view, s->row, y))
        return;
    bool hop = s->from_row != s->row && path_overlay_is_visible(view, s->from_row, y0);
    cairo_move_to(cr, x0, hop ? y0 : y);
    cairo_line_to(cr, x0, y);
    cairo_line_to(cr, x1, y);
    cairo_stroke(cr);
}

void path_overlay_set_color(struct view *view, cairo_t *cr, double opaque)
{
    if (view->viewer_settings.look.grey)
        cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, opaque);
    else
        cairo_set_source_rgba(cr, 0.85, 0.1, 0.45, opaque);
}

static const char key_text[] = "critical path";

double path_overlay_key_px(void) { return text_cache_width(NULL, key_text, 8, false) + 36; }

/* Draws the key in the lower right corner, left of that of waits. */
static void draw_key(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double ground = painter_brightness(theme.dark),
           wide = text_cache_width(NULL, key_text, 8, false) + 28,
           x = width - 8 - wide - (view->viewer_settings.tints ? wait_coloring_key_px() : 0);
    cairo_set_source_rgba(cr, ground, ground, ground, 0.85);
    cairo_rectangle(cr, x - 4, height - 18, wide + 4, 16);
    cairo_fill(cr);
    path_overlay_set_color(view, cr, 0.7);
    cairo_rectangle(cr, x, height - 12, 12, 4);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, 0.5, 0.5, 0.55);
    text_cache_show(cr, x + 16, height - 17, key_text, 8, false);
}

void path_overlay_draw(struct view *view, cairo_t *cr, int width, int height)
{
    struct path_overlay *k = path_overlay_state(view);
    double names = viewport_names_px(&view->viewport);
    if (!view->viewer_settings.path || !k->path.has_answer)
        return;
    if (!k->made)
        path_overlay_build_stretches(view, k);
    cairo_save(cr);
    cairo_rectangle(cr, names, 0, width - names, height);
    cairo_clip(cr);
    cairo_set_line_width(cr, MAX(4, 5 * view->viewport.place.zoom));
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    path_overlay_set_color(view, cr, view->viewer_settings.look.grey ? 0.6 : 0.5);
    for (guint i = 0; i < k->stretches->len; i++)
        draw_stretch(view, cr, &g_array_index(k->stretches, struct path_overlay_stretch, i), width);
    cairo_restore(cr);
    if (!viewport_vertical(&view->viewport))
        draw_key(view, cr, width, height);
}

void path_overlay_print(struct view *view, FILE *f)
{
    struct path_overlay *k = path_overlay_state(view);
    if (!view->viewer_settings.path || !k->path.has_answer)
        return;
    if (!k->made)
        path_overlay_build_stretches(view, k);
    for (guint i = 0; i < k->stretches->len; i++) {
        const struct path_overlay_stretch *s =
            &g_array_index(k->stretches, struct path_overlay_stretch, i);
        if (s->row != s->from_row)
            fprintf(f, "hop %d %d %.0f\n", s->from_row, s->row, s->from_pt);
        fprintf(f, "along %d %.0f %.0f\n", s->row, s->from_pt, s->to_pt);
    }
}
