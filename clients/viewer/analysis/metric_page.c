#include "clients/viewer/analysis/metric_page.h"

#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewport.h"
#include "render/curves.h"
#include "render/scene_paint.h"
#include "render/scene_times.h"
#include "render/text_cache.h"
#include "wire/time_series.h"

#include <gtk/gtk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A curve of a metric over time above a table of the analysis pane; on the diagram's axis if that
 * is placed by time. */

#define EVERY_US 250000
#define HEIGHT_PX 84
#define TOP_PX 18
#define BELOW_PX 15
#define LEFT_PX 64 /* left end of the curve without an axis of the diagram */
#define LINES_MOST 64u

struct metric_curve {
    struct view *view;
    GtkWidget *area;
    enum series_group group;
    struct request_slot asking;
    struct time_series_set series;
    char *first, *meter, *program; /* first: metric until one is chosen */
    uint32_t thread;
    gint64 asked_us;
    guint soon;
    bool stale;
};

/* ---- time axis ---- */

/* Returns whether the curve has the time axis of the scene, not of the overview, or none. */
static bool is_near(const struct view *view) { return band_rows_are_shown(view); }

static bool metric_curve_is_overview(const struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    return p->overview && p->column_ns > 0 && p->overview_to > p->overview_from;
}

static void range_of(const struct metric_curve *b, int64_t *from, int64_t *to)
{
    const struct time_axis *axis = is_near(b->view) ? time_axis_of(b->view) : NULL;
    *from = *to = 0; /* the whole run */
    if (axis)
        time_axis_span(axis, from, to);
    if (metric_curve_is_overview(b->view)) {
        *from = (int64_t)b->view->viewport.place.overview_from;
        *to = (int64_t)b->view->viewport.place.overview_to;
    }
}

static double left_px(const struct metric_curve *b)
{
    return is_near(b->view) || metric_curve_is_overview(b->view)
               ? viewport_names_px(&b->view->viewport)
               : LEFT_PX;
}

static double right_px(const struct metric_curve *b)
{
    int width = (int)(gtk_widget_get_width(b->area) / b->view->viewport.unit_px);
    return is_near(b->view) ? MIN(width, (int)viewport_along_px(&b->view->viewport))
           : metric_curve_is_overview(b->view) ? left_px(b) + overview_width_px(b->view)
                                               : width - 16;
}

static double x_at(const struct metric_curve *b, int64_t ns)
{
    const struct time_series_set *t = &b->series;
    const struct time_axis *axis = is_near(b->view) ? time_axis_of(b->view) : NULL;
    double from = (double)t->from, to = (double)t->to, left = left_px(b);
    if (axis)
        return time_axis_screen_x(b->view, time_axis_x_pt(axis, ns));
    if (metric_curve_is_overview(b->view)) {
        from = b->view->viewport.place.overview_from;
        to = b->view->viewport.place.overview_to;
    }
    return left + ((double)ns - from) / (to - from) * (right_px(b) - left);
}

static double x_of(void *context, uint32_t pixel)
{
    const struct metric_curve *b = context;
    const struct time_series_set *t = &b->series;
    return x_at(b, t->from + (int64_t)((double)(t->to - t->from) * pixel / t->pixels));
}

/* ---- requests ---- */

static void metric_curve_receive(void *user, const struct response_chunk *answer)
{
    struct metric_curve *b = user;
    struct time_series_set series = {0};
    if (answer->part != RESPONSE_TIME_SERIES)
        return;
    decode_time_series(answer->in, &series);
    if (!decoder_finish(answer->in)) {
        time_series_free(&series);
        return;
    }
    time_series_free(&b->series);
    b->series = series;
    gtk_widget_queue_draw(b->area);
}

static void metric_curve_request(struct metric_curve *b)
{
    struct encoder body = {0};
    int width = (int)(right_px(b) - left_px(b));
    struct series_request r = {.pixels = (uint32_t)CLAMP(width, 16, 20000),
                               .groups = (uint8_t)b->group,
                               .meter = b->meter ? b->meter : b->first,
                               .threads = b->thread != 0,
                               .lines = &b->thread,
                               .line_count = b->thread != 0};
    range_of(b, &r.from, &r.to);
    encode_series_request(&body, &r);
    b->stale = false;
    b->asked_us = g_get_monotonic_time();
    request_slot_send(&b->view->server_link, &b->asking, REQUEST_TIME_SERIES, &body,
                      metric_curve_receive, b);
}

static void metric_curve_request_soon(void *user)
{
    struct metric_curve *b = user;
    gint64 since = g_get_monotonic_time() - b->asked_us;
    const struct server_link *link = &b->view->server_link;
    if (!b->stale || b->soon || !link->connected || !link->has_run)
        return;
    if (since >= EVERY_US && !request_slot_is_running(link, &b->asking))
        metric_curve_request(b);
    else
        request_slot_schedule(&b->soon, (guint)(CLAMP(EVERY_US - since, 10000, EVERY_US) / 1000),
                              metric_curve_request_soon, b);
}

/* whether it is requested, or about to be */
static bool metric_curve_is_busy(const struct metric_curve *b)
{
    return b->soon || request_slot_is_running(&b->view->server_link, &b->asking);
}

/* thread: its line; 0: the whole program; its name is "" if any will do. */
static void metric_curve_choose(struct metric_curve *b, const char *program, uint32_t thread,
                                const char *meter)
{
    g_free(b->program);
    g_free(b->meter);
    b->program = g_strdup(program);
    b->meter = g_strdup(meter);
    b->thread = thread;
    b->stale = true;
    b->asked_us = 0; /* request at once */
    metric_curve_request_soon(b);
}

static void metric_curve_on_notification(struct metric_curve *b, enum notification what)
{
    b->stale |= what == NOTIFY_DIAGRAM || what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET ||
                what == NOTIFY_TAB_SHOWN || what == NOTIFY_VISIBLE_PART;
    metric_curve_request_soon(b);
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_VISIBLE_PART || what == NOTIFY_LOOK ||
        what == NOTIFY_SETTINGS || what == NOTIFY_PLACE)
        gtk_widget_queue_draw(b->area);
}

/* another run */
static void metric_curve_clear(struct metric_curve *b)
{
    request_slot_cancel(&b->view->server_link, &b->asking);
    time_series_free(&b->series);
    g_clear_pointer(&b->meter, g_free);
    g_clear_pointer(&b->program, g_free);
    b->thread = 0;
    b->stale = true;
}

/* ---- drawing ---- */

/* Returns the chosen series as a panel; the caller frees its lines. */
static struct curve_panel panel_of(struct metric_curve *b)
{
    struct curve_panel p = {.pixels = b->series.pixels,
                            .lines = g_new0(struct curve_line, LINES_MOST)};
    for (uint32_t i = 0; i < b->series.count && p.line_count < LINES_MOST; i++) {
        const struct time_series *c = &b->series.items[i];
        bool other = b->program && *b->program && strcmp(c->program, b->program) != 0;
        if (other || (p.name && (strcmp(p.name, c->name) != 0 || p.grows != c->grows)))
            continue;
        p.name = c->name;
        p.unit = c->unit;
        p.grows = c->grows;
        p.lines[p.line_count] = (struct curve_line){
            c->thread ? metadata_label(view_metadata(b->view), c->thread) : c->program, c->pixels,
            c->scale, MIN(p.line_count, CURVE_LOOKS)};
        p.line_count++;
    }
    if (!p.line_count) /* the ruler needs them, too */
        p.name = p.unit = "";
    return p;
}

static double metric_curve_draw_text(cairo_t *cr, double x, double light, bool dark,
                                     const char *text, bool bold)
{
    double v = dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
    text_cache_show(cr, x, 2, text, 9, bold);
    return x + text_cache_width(NULL, text, 9, bold) + 8;
}

/* Draws the name, the unit, and the key of the lines. */
static void draw_head(cairo_t *cr, const struct curve_panel *p, const struct curve_ruler *r,
                      double x, double right, struct curve_look look)
{
    x = metric_curve_draw_text(cr, x, 0.15, look.dark, p->name, true);
    if (*r->unit)
        x = metric_curve_draw_text(cr, x, 0.35, look.dark, r->unit, false);
    for (uint32_t i = 0; i < p->line_count && x + 40 < right; i++) {
        curve_panel_sample(cr, p->lines[i].look, x + 6, 8, 16, look);
        x = metric_curve_draw_text(cr, x + 26, 0.3, look.dark, p->lines[i].name, false);
    }
}

/* Draws times, if the diagram has no ruler for them. */
static void draw_times(const struct metric_curve *b, cairo_t *cr, cairo_rectangle_t box, bool dark)
{
    const struct time_series_set *t = &b->series;
    int64_t step =
        time_columns_round((int64_t)((double)(t->to - t->from) * 100 / fmax(box.width, 100)) + 1);
    for (int64_t at = t->from / step * step; at <= t->to; at += step) {
        char text[40];
        double x = x_at(b, at), v = dark ? 0.75 : 0.35;
        if (at < t->from)
            continue;
        time_columns_print(at, step, text, sizeof text);
        cairo_set_source_rgb(cr, v, v, v);
        double wide = text_cache_width(NULL, text, 8, false);
        if (x + wide / 2 < box.x + box.width + 14)
            text_cache_show(cr, x - wide / 2, box.y + box.height + 2, text, 8, false);
    }
}

/* Returns whether any pixel is known; for a counter, a single value is not enough. */
static bool metric_curve_has_points(const struct curve_panel *p)
{
    for (uint32_t i = 0; i < p->line_count; i++)
        for (uint32_t k = 0; k < p->pixels; k++)
            if (p->lines[i].pixels[k].known != SERIES_NOTHING)
                return true;
    return false;
}

static void draw_nothing(struct metric_curve *b, const struct curve_panel *p, cairo_t *cr,
                         bool dark)
{
    const char *sentence = b->series.pixels == 0 ? "Loading samples..."
                           : p->line_count       ? "Too few samples to plot."
                                                 : "No samples.";
    metric_curve_draw_text(cr, left_px(b), 0.4, dark, sentence, false);
}

static void draw_curves(struct metric_curve *b, cairo_t *cr, int height, struct curve_look look)
{
    struct curve_panel p = panel_of(b);
    bool own = !is_near(b->view) && !metric_curve_is_overview(b->view);
    double left = left_px(b), right = right_px(b);
    cairo_rectangle_t box = {left, TOP_PX, right - left,
                             height - TOP_PX - (own ? BELOW_PX + 3 : 5)};
    if (!metric_curve_has_points(&p) || box.width < 20 || box.height < 10) {
        draw_nothing(b, &p, cr, look.dark);
        g_free(p.lines);
        return;
    }
    look.width = box.width;
    struct curve_ruler r = curve_panel_ruler(&p, box.height);
    draw_head(cr, &p, &r, left, right, look);
    curve_panel_plot_ruler(cr, &r, box, look, 8);
    if (own)
        draw_times(b, cr, box, look.dark);
    cairo_save(cr);
    cairo_rectangle(cr, box.x, box.y - 2, box.width, box.height + 4);
    cairo_clip(cr);
    curve_panel_plot(cr, &p, &r, box, x_of, b, look);
    cairo_restore(cr);
    g_free(p.lines);
}

static void metric_curve_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                   gpointer data)
{
    struct metric_curve *b = data;
    struct paint_theme theme = viewer_settings_theme(&b->view->viewer_settings);
    (void)area;
    letters_scale(b->view, cr, &width, &height);
    painter_fill_background(cr, &theme);
    draw_curves(b, cr, height, (struct curve_look){.grey = theme.grey, .dark = theme.dark});
}

/* ---- tooltips ---- */

static gboolean on_tooltip(GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip,
                           gpointer data)
{
    struct metric_curve *b = data;
    struct curve_panel p = panel_of(b);
    struct curve_ruler r = curve_panel_ruler(&p, HEIGHT_PX);
    GString *text = g_string_new(NULL);
    uint32_t pixel = 0;
    (void)widget;
    (void)y;
    x = (int)(x / b->view->viewport.unit_px);
    while (pixel + 1 < p.pixels && x_of(b, pixel + 1) <= x)
        pixel++;
    for (uint32_t i = 0; !keyboard && x >= left_px(b) && i < p.line_count && i < 12; i++) {
        const struct series_pixel *c = &p.lines[i].pixels[pixel];
        char value[60];
        if (c->known == SERIES_NOTHING)
            continue;
        curve_panel_value(&r, curve_panel_shown(&r, &p.lines[i], c->mean), value, sizeof value);
        g_string_append_printf(text, "%s%s: %s%s", text->len ? "\n" : "", p.lines[i].name, value,
                               c->known == SERIES_RECORDED ? "" : " (last sample)");
    }
    g_free(p.lines);
    bool sentence = text->len > 0;
    gtk_tooltip_set_text(tooltip, text->str);
    g_string_free(text, TRUE);
    return sentence;
}

/* what is drawn, line by line; for tests */
static void metric_curve_print(struct metric_curve *b, FILE *f)
{
    struct curve_panel p = panel_of(b);
    struct curve_ruler r = curve_panel_ruler(&p, HEIGHT_PX);
    for (uint32_t i = 0; i < p.line_count; i++) {
        const struct series_pixel *pixels = p.lines[i].pixels;
        uint32_t known = 0, recorded = 0, first = p.pixels;
        int64_t most = 0;
        for (uint32_t k = 0; k < p.pixels; k++) {
            known += pixels[k].known != SERIES_NOTHING;
            recorded += pixels[k].known == SERIES_RECORDED;
            first = pixels[k].known != SERIES_NOTHING && first == p.pixels ? k : first;
            most = MAX(most, pixels[k].most);
        }
        char value[60];
        curve_panel_value(&r, curve_panel_shown(&r, &p.lines[i], most), value, sizeof value);
        fprintf(f, "curve %s of %s most %s known %u told %u from x %.1f to %.1f\n", p.name,
                p.lines[i].name, value, known, recorded, x_of(b, first), x_of(b, p.pixels));
    }
    g_free(p.lines);
}

/* ---- construction ---- */

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct metric_curve *b = data;
    (void)widget;
    g_clear_handle_id(&b->soon, g_source_remove);
    metric_curve_clear(b);
}

static void free_box(gpointer data)
{
    struct metric_curve *b = data;
    g_free(b->first);
    g_free(b);
}

/* name: for assistive technologies; meter: the metric that is drawn until another one is chosen,
 * "": the first. */
static struct metric_curve *metric_curve_new(struct view *view, enum series_group group,
                                             const char *name, const char *meter)
{
    struct metric_curve *b = g_new0(struct metric_curve, 1);
    *b = (struct metric_curve){.view = view,
                               .area = gtk_drawing_area_new(),
                               .group = group,
                               .first = g_strdup(meter),
                               .stale = true};
    gtk_widget_set_size_request(b->area, -1, letters_px(view, HEIGHT_PX));
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(b->area), metric_curve_draw_area, b, NULL);
    gtk_widget_set_has_tooltip(b->area, TRUE);
    accessible_name_set(b->area, name);
    g_signal_connect(b->area, "query-tooltip", G_CALLBACK(on_tooltip), b);
    g_signal_connect(b->area, "destroy", G_CALLBACK(on_destroy), b);
    g_object_set_data_full(G_OBJECT(b->area), "curve", b, free_box);
    return b;
}

/* ---- the curve of a tab ---- */

static const struct {
    const char *page, *name, *meter;
    enum series_group group;
} all[METRIC_PAGES] = {
    [METRIC_PAGE_MEMORY] = {"memory", "Heap size over time", "heap_live", SERIES_MEMORY},
    [METRIC_PAGE_USAGE] = {"resources", "Selected metric over time", "resident", SERIES_USAGE},
    [METRIC_PAGE_METRICS] = {"meters", "Selected metric over time", "", SERIES_OWN},
    [METRIC_PAGE_LEVELS] = {"concurrency", "Number of threads over time", "running", SERIES_LEVELS},
};

static char *metric_page_key(enum metric_page page)
{
    return g_strconcat("figured ", all[page].page, NULL);
}

static struct metric_curve *metric_page_curve_of(struct view *view, enum metric_page page)
{
    char *key = metric_page_key(page);
    struct metric_curve *box = g_object_get_data(G_OBJECT(view->window), key);
    g_free(key);
    return box;
}

GtkWidget *metric_page_curve_above(struct view *view, enum metric_page page)
{
    struct metric_curve *box =
        metric_curve_new(view, all[page].group, all[page].name, all[page].meter);
    char *key = metric_page_key(page);
    g_object_set_data(G_OBJECT(view->window), key, box);
    g_free(key);
    return box->area;
}

static const char *metric_page_cell_text(const struct result_table *t, int row, const char *column)
{
    uint32_t at = result_table_find_column(t, column);
    const struct table_cell *cell =
        at < t->column_count ? &result_table_cells(t, (uint32_t)row)[at] : NULL;
    return cell && cell->is == CELL_TEXT ? cell->text : "";
}

void metric_page_select(struct view *view, enum metric_page page, const struct result_table *t,
                        int row)
{
    uint32_t at = result_table_find_column(t, "thread");
    const struct table_cell *thread =
        row >= 0 && at < t->column_count ? &result_table_cells(t, (uint32_t)row)[at] : NULL;
    const char *meter = row >= 0 ? metric_page_cell_text(t, row, "metric") : "";
    if (*meter)
        metric_curve_choose(metric_page_curve_of(view, page),
                            metric_page_cell_text(t, row, "program"),
                            thread && thread->is == CELL_LINE ? thread->line : 0, meter);
}

void metric_page_on_notification(struct view *view, enum metric_page page, enum notification what)
{
    metric_curve_on_notification(metric_page_curve_of(view, page), what);
}

void metric_page_clear(struct view *view, enum metric_page page)
{
    metric_curve_clear(metric_page_curve_of(view, page));
}

static int metric_page_find_kind(const char *page)
{
    int i = 0;
    while (i < METRIC_PAGES && strcmp(all[i].page, page) != 0)
        i++;
    return i;
}

bool metric_page_is_busy(struct view *view, const char *page)
{
    int i = metric_page_find_kind(page);
    return i < METRIC_PAGES &&
           metric_curve_is_busy(metric_page_curve_of(view, (enum metric_page)i));
}

void metric_page_print(struct view *view, const char *page, FILE *f)
{
    int i = metric_page_find_kind(page);
    if (i < METRIC_PAGES)
        metric_curve_print(metric_page_curve_of(view, (enum metric_page)i), f);
}

/* ---- the tabs ---- */

/* Defines the callbacks of a tab. */
#define METRIC_PAGE_CALLBACKS(name, page)                                                          \
    static GtkWidget *name##_curve(struct view *view)                                              \
    {                                                                                              \
        return metric_page_curve_above(view, page);                                                \
    }                                                                                              \
    static void name##_select(struct view *view, const struct result_table *t, int row)            \
    {                                                                                              \
        metric_page_select(view, page, t, row);                                                    \
    }                                                                                              \
    static void name##_notify(struct view *view, enum notification what)                           \
    {                                                                                              \
        metric_page_on_notification(view, page, what);                                             \
    }                                                                                              \
    static void name##_clear(struct view *view) { metric_page_clear(view, page); }

METRIC_PAGE_CALLBACKS(metrics_tab, METRIC_PAGE_METRICS)
METRIC_PAGE_CALLBACKS(usage_tab, METRIC_PAGE_USAGE)
METRIC_PAGE_CALLBACKS(levels_tab, METRIC_PAGE_LEVELS)

/* Metrics that descriptions and users define. */
const struct tab page_meters = {
    .name = "meters",
    .title = "Metrics",
    .preset = "metrics",
    .row_kind = "",
    .empty_text =
        "No metrics; define them with poet.h or in a target description (docs/config.md).",
    .tooltip = "User-defined metrics of the run",
    .header = metrics_tab_curve,
    .selected = metrics_tab_select,
    .on_notification = metrics_tab_notify,
    .clear = metrics_tab_clear,
};

/* CPU time, memory and I/O of processes and threads. */
const struct tab page_resources = {
    .name = "resources",
    .title = "Resources",
    .preset = "usage",
    .row_kind = "thread",
    .empty_text = "No data: only local processes (Unix socket) are sampled.",
    .tooltip = "OS resource usage: CPU time, memory, I/O",
    .header = usage_tab_curve,
    .selected = usage_tab_select,
    .on_notification = usage_tab_notify,
    .clear = usage_tab_clear,
};

/* How many threads were in each state. */
const struct tab page_concurrency = {
    .name = "concurrency",
    .title = "Concurrency",
    .preset = "concurrency",
    .row_kind = "state",
    .empty_text = "No threads yet.",
    .tooltip = "How many threads ran, were runnable, and were blocked by class; the curve shows "
               "the selected row over time",
    .header = levels_tab_curve,
    .on_row_selected = levels_tab_select,
    .on_notification = levels_tab_notify,
    .clear = levels_tab_clear,
};
