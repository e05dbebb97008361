#include "clients/viewer/analysis/metric_curve.h"

#include "clients/symbols/symbolizer.h"
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/curve_panel.h"
#include "render/text_cache.h"
#include "render/scene_paint.h"
#include "render/time_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static gboolean on_soon(gpointer data);

static void metric_curve_request_soon(struct metric_curve *b)
{
    gint64 since = g_get_monotonic_time() - b->asked_us;
    const struct server_link *link = &b->view->server_link;
    if (!b->stale || b->soon || !link->connected || !link->has_run)
        return;
    if (since >= EVERY_US && !request_slot_is_running(link, &b->asking))
        metric_curve_request(b);
    else
        b->soon =
            g_timeout_add((guint)(CLAMP(EVERY_US - since, 10000, EVERY_US) / 1000), on_soon, b);
}

static gboolean on_soon(gpointer data)
{
    struct metric_curve *b = data;
    b->soon = 0;
    metric_curve_request_soon(b);
    return G_SOURCE_REMOVE;
}

bool metric_curve_is_busy(const struct metric_curve *b)
{
    return b->soon || request_slot_is_running(&b->view->server_link, &b->asking);
}

void metric_curve_choose(struct metric_curve *b, const char *program, uint32_t thread,
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

void metric_curve_on_notification(struct metric_curve *b, enum notification what)
{
    b->stale |= what == NOTIFY_DIAGRAM || what == NOTIFY_RUN_UPDATED || what == NOTIFY_QUIET ||
                what == NOTIFY_TAB_SHOWN || what == NOTIFY_VISIBLE_PART;
    metric_curve_request_soon(b);
    if (what == NOTIFY_DIAGRAM || what == NOTIFY_VISIBLE_PART || what == NOTIFY_LOOK ||
        what == NOTIFY_SETTINGS || what == NOTIFY_PLACE)
        gtk_widget_queue_draw(b->area);
}

void metric_curve_clear(struct metric_curve *b)
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

void metric_curve_print(struct metric_curve *b, FILE *f)
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
    if (b->soon)
        g_source_remove(b->soon);
    b->soon = 0;
    metric_curve_clear(b);
}

static void free_box(gpointer data)
{
    struct metric_curve *b = data;
    g_free(b->first);
    g_free(b);
}

struct metric_curve *metric_curve_new(struct view *view, enum series_group group, const char *name,
                                      const char *meter)
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
    gtk_accessible_update_property(GTK_ACCESSIBLE(b->area), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    g_signal_connect(b->area, "query-tooltip", G_CALLBACK(on_tooltip), b);
    g_signal_connect(b->area, "destroy", G_CALLBACK(on_destroy), b);
    g_object_set_data_full(G_OBJECT(b->area), "curve", b, free_box);
    return b;
}

GtkWidget *metric_curve_widget(struct metric_curve *b) { return b->area; }
