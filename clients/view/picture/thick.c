#define _GNU_SOURCE
#include "clients/view/picture/thick.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/marked.h"
#include "clients/view/parts/tabled.h"
#include "clients/view/picture/axis.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_US 1000000 /* of a run that grows */
#define BEYOND_US 100000 /* where what is seen is not here yet */

/* What of it is in the scene: along a row, from a row to another one where they differ. */
struct stretch {
    int from_row, row;
    double from_pt, to_pt;
};

struct thick {
    struct tabled path;
    uint32_t *order; /* rows of its table, by time */
    GArray *stretches;
    int64_t from_ns, to_ns; /* the pieces that are here, or asked for, are all of those between */
    bool stale; /* of the run there is more; made: the stretches are of this scene */
    bool made;
    guint soon;
    struct table_cell marks; /* the step whose events are to be marked; CELL_NULL: none */
};

/* Of the path, piece by piece; others may come behind them. */
enum column { THREAD, TOOK, STEP, FROM, IS, UNTIL, COLUMNS };

/* ---- asking ---- */

static const struct table_cell *cell_of(const struct thick *k, uint32_t row, enum column column)
{
    return &table_cells(&k->path.table, row)[column];
}

static int64_t from_of(const struct thick *k, uint32_t row)
{
    return cell_of(k, row, FROM)->number;
}

static int by_time(const void *a, const void *b, void *user)
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

static void mark_step(struct view *view, struct thick *k)
{
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct ref));
    for (uint32_t i = 0; i < k->path.table.row_count && k->path.table.column_count >= COLUMNS; i++)
        if (same_step(cell_of(k, i, STEP), &k->marks))
            g_array_append_val(events, k->path.table.rows[i].event);
    marked_add(&view->marked, (struct ref *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
    k->marks.is = CELL_NULL;
    news_tell(&view->news, NEWS_HITS);
}

static void on_told(void *user)
{
    struct view *view = user;
    struct thick *k = view->thick;
    if (!k->path.fresh)
        return;
    k->path.fresh = k->made = false;
    uint32_t count = k->path.table.column_count >= COLUMNS ? k->path.table.row_count : 0;
    k->order = g_renew(uint32_t, k->order, count + 1);
    for (uint32_t i = 0; i < count; i++)
        k->order[i] = i;
    qsort_r(k->order, count, sizeof *k->order, by_time, k);
    if (k->marks.is)
        mark_step(view, k);
    gtk_widget_queue_draw(view->canvas);
}

static struct thick *thick_of(struct view *view)
{
    if (!view->thick) {
        view->thick = g_new0(struct thick, 1);
        view->thick->stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
        view->thick->stale = true;
        view->thick->path = (struct tabled){.link = &view->link, .told = on_told, .user = view};
    }
    return view->thick;
}

static void say_ns(struct table_request *request, const char *key, int64_t ns)
{
    char text[24];
    g_snprintf(text, sizeof text, "%lld", (long long)ns);
    tabled_option(request, key, text);
}

/* What is seen and as much again on both sides; all of it, where its events are to be marked. */
static void ask(struct view *view, struct thick *k)
{
    struct table_request request = tabled_request("path", "piece");
    const struct axis *axis = k->marks.is ? NULL : axis_of(view);
    k->from_ns = INT64_MIN;
    k->to_ns = INT64_MAX;
    if (axis) {
        axis_span(axis, &k->from_ns, &k->to_ns);
        int64_t more = k->to_ns - k->from_ns;
        say_ns(&request, "begin", k->from_ns -= more);
        say_ns(&request, "end", k->to_ns += more);
    }
    k->stale = false;
    tabled_ask(&k->path, &request);
}

/* Does what is seen lie beyond the pieces that are here? */
static bool is_beyond(struct view *view, const struct thick *k)
{
    const struct axis *axis = axis_of(view);
    int64_t from, to;
    if (!axis)
        return false;
    axis_span(axis, &from, &to);
    return from < k->from_ns || to > k->to_ns;
}

static gboolean on_soon(gpointer data);

static void ask_soon(struct view *view, struct thick *k)
{
    gint64 since = g_get_monotonic_time() - k->path.asked_us;
    bool beyond = is_beyond(view, k);
    if (!(k->stale || beyond) || k->soon || !view->link.connected || !view->link.has_run)
        return;
    if (since >= (beyond ? BEYOND_US : EVERY_US) && !tabled_runs(&k->path))
        ask(view, k);
    else
        k->soon = g_timeout_add(50, on_soon, view);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->thick->soon = 0;
    ask_soon(view, view->thick);
    return G_SOURCE_REMOVE;
}

void thick_take(struct view *view, enum news news)
{
    struct thick *k = thick_of(view);
    if (news == NEWS_GROWN || news == NEWS_QUIET)
        k->stale = true;
    if (news == NEWS_PICTURE)
        k->made = false;
    if (view->settings.path && !view->camera.place.far)
        ask_soon(view, k);
}

void thick_clear(struct view *view)
{
    struct thick *k = thick_of(view);
    tabled_clear(&k->path);
    if (k->soon)
        g_source_remove(k->soon);
    k->soon = 0;
    k->stale = true;
    k->made = false;
    k->marks.is = CELL_NULL;
}

void thick_mark(struct view *view, const struct table_cell *step)
{
    struct thick *k = thick_of(view);
    k->marks = *step;
    if (step->is != CELL_STEP)
        k->marks.is = CELL_NULL;
    else if (k->path.here && !k->stale && k->from_ns == INT64_MIN)
        mark_step(view, k);
    else
        ask(view, k);
}

bool thick_busy(struct view *view)
{
    struct thick *k = thick_of(view);
    bool wanted = view->settings.path && !view->camera.place.far && view->stage.scene;
    return wanted && (tabled_runs(&k->path) || (k->soon && (!k->path.here || is_beyond(view, k))));
}

/* ---- what of it is in the scene ---- */

/* Placed by order, columns tell nothing of times: there a piece is where the event is that it ends with. */
static void add(struct view *view, struct thick *k, const struct axis *axis, uint32_t piece)
{
    bool timed = view->camera.place.column_ns > 0;
    int64_t from = from_of(k, piece), to = from + cell_of(k, piece, TOOK)->number;
    const struct stretch *last =
        k->stretches->len ? &g_array_index(k->stretches, struct stretch, k->stretches->len - 1)
                          : NULL;
    const struct scene_mark *until = axis_mark(axis, k->path.table.rows[piece].event);
    int row = axis_row(view, cell_of(k, piece, THREAD)->line);
    if (!timed && !until)
        return;
    double x0 = last    ? last->to_pt
                : timed ? axis_x_pt(axis, from)
                        : axis_x_pt(axis, INT64_MIN),
           x1 = until ? until->x_pt : axis_x_pt(axis, to);
    struct stretch s = {last ? last->row : row, row, x0, MAX(x0, x1)};
    g_array_append_val(k->stretches, s);
}

static void make(struct view *view, struct thick *k)
{
    const struct axis *axis = axis_of(view);
    int64_t first, last;
    uint32_t count = k->path.table.column_count >= COLUMNS ? k->path.table.row_count : 0, at = 0;
    k->made = true;
    g_array_set_size(k->stretches, 0);
    if (!axis)
        return;
    axis_span(axis, &first, &last);
    while (at < count && from_of(k, k->order[at]) + cell_of(k, k->order[at], TOOK)->number < first)
        at++;
    for (; at < count && from_of(k, k->order[at]) <= last; at++)
        add(view, k, axis, k->order[at]);
}

/* ---- drawing ---- */

static bool seen(const struct view *view, int row, double y)
{
    bool pinned = row >= 0 && (uint32_t)row < view->stage.pinned;
    return row >= 0 && (pinned || y >= camera_band_px(&view->camera));
}

static void draw_stretch(struct view *view, cairo_t *cr, const struct stretch *s, int width)
{
    double x0 = axis_screen_x(view, s->from_pt), x1 = axis_screen_x(view, s->to_pt);
    double y = s->row >= 0 ? camera_y_px(&view->camera, (uint32_t)s->row) : 0,
           y0 = s->from_row >= 0 ? camera_y_px(&view->camera, (uint32_t)s->from_row) : 0;
    if (x1 < -10 || x0 > width + 10 || !seen(view, s->row, y))
        return;
    bool hop = s->from_row != s->row && seen(view, s->from_row, y0);
    cairo_move_to(cr, x0, hop ? y0 : y);
    cairo_line_to(cr, x0, y);
    cairo_line_to(cr, x1, y);
    cairo_stroke(cr);
}

void thick_colour(struct view *view, cairo_t *cr, double opaque)
{
    if (view->settings.look.grey)
        cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, opaque);
    else
        cairo_set_source_rgba(cr, 0.85, 0.1, 0.45, opaque);
}

static const char key_text[] = "critical path";

double thick_key_px(void) { return lettering_width(NULL, key_text, 8, false) + 36; }

/* In the corner, beside that of the tints. */
static void draw_key(struct view *view, cairo_t *cr, int width, int height)
{
    struct paint_theme theme = settings_theme(&view->settings);
    double ground = paint_brightness(theme.dark),
           wide = lettering_width(NULL, key_text, 8, false) + 28,
           x = width - 8 - wide - (view->settings.tints ? tint_key_px() : 0);
    cairo_set_source_rgba(cr, ground, ground, ground, 0.85);
    cairo_rectangle(cr, x - 4, height - 18, wide + 4, 16);
    cairo_fill(cr);
    thick_colour(view, cr, 0.7);
    cairo_rectangle(cr, x, height - 12, 12, 4);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, 0.5, 0.5, 0.55);
    lettering_show(cr, x + 16, height - 17, key_text, 8, false);
}

void thick_draw(struct view *view, cairo_t *cr, int width, int height)
{
    struct thick *k = thick_of(view);
    double names = camera_names_px(&view->camera);
    if (!view->settings.path || !k->path.here)
        return;
    if (!k->made)
        make(view, k);
    cairo_save(cr);
    cairo_rectangle(cr, names, 0, width - names, height);
    cairo_clip(cr);
    cairo_set_line_width(cr, MAX(4, 5 * view->camera.place.zoom));
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    thick_colour(view, cr, view->settings.look.grey ? 0.6 : 0.5);
    for (guint i = 0; i < k->stretches->len; i++)
        draw_stretch(view, cr, &g_array_index(k->stretches, struct stretch, i), width);
    cairo_restore(cr);
    if (!camera_vertical(&view->camera))
        draw_key(view, cr, width, height);
}

void thick_print(struct view *view, FILE *f)
{
    struct thick *k = thick_of(view);
    if (!view->settings.path || !k->path.here)
        return;
    if (!k->made)
        make(view, k);
    for (guint i = 0; i < k->stretches->len; i++) {
        const struct stretch *s = &g_array_index(k->stretches, struct stretch, i);
        if (s->row != s->from_row)
            fprintf(f, "hop %d %d %.0f\n", s->from_row, s->row, s->from_pt);
        fprintf(f, "along %d %.0f %.0f\n", s->row, s->from_pt, s->to_pt);
    }
}
