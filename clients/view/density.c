/* The run from far away: how many events there are in each pixel of each row, and where it was blocked.
 * In the picture, below the zoom at which marks can be told apart; and in the map, always of all of it. */
#include "clients/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_EVENTS 50.0 /* across the picture, before it is one of marks again */

static double far_width(const struct view *view)
{
    return MAX(stage_along_px(view) - stage_names_px(view), 16);
}

static double share_of(const struct shown_density *d, double at)
{
    return d->to > d->from ? (at - (double)d->from) / (double)(d->to - d->from) : 0;
}

/* ---- painting ---- */

static void shade(unsigned char *pixel, uint32_t count, uint32_t most, struct target_colour c, bool dark)
{
    double v = 0.2 + 0.8 * log(1.0 + count) / log(1.0 + most), ground = dark ? 0.13 : 1;
    pixel[0] = (unsigned char)(255 * (ground + (c.blue - ground) * v));
    pixel[1] = (unsigned char)(255 * (ground + (c.green - ground) * v));
    pixel[2] = (unsigned char)(255 * (ground + (c.red - ground) * v));
}

/* One strip, a pixel of an image for each of the density. */
static void paint_strip(cairo_t *cr, const struct shown_density *d, uint32_t row, struct target_colour c,
                        bool dark, double x, double y, double width, double height)
{
    int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, (int)d->pixels);
    unsigned char *data = g_malloc((gsize)stride);
    const uint32_t *counts = d->counts + (size_t)row * d->pixels;
    uint32_t most = 1;
    for (uint32_t i = 0; i < d->pixels; i++)
        most = MAX(most, counts[i]);
    memset(data, dark ? 33 : 255, (size_t)stride);
    for (uint32_t i = 0; i < d->pixels; i++)
        if (counts[i])
            shade(data + 4 * i, counts[i], most, c, dark);
    cairo_surface_t *image =
        cairo_image_surface_create_for_data(data, CAIRO_FORMAT_RGB24, (int)d->pixels, 1, stride);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, width / d->pixels, height);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(cr, 0, 0, d->pixels, 1);
    cairo_fill(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
    g_free(data);
}

/* Where only blocked threads were in the line, for as long as a pixel or more. */
static void paint_blocked(cairo_t *cr, const struct view *view, uint32_t row, double x, double y)
{
    const struct shown_density *d = &view->stage.far;
    int64_t least = view->settings.look.threshold_ns ? view->settings.look.threshold_ns : 1;
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    for (uint32_t i = 0; i < d->pixels; i++)
        if (d->blocked_ns[(size_t)row * d->pixels + i] >= (uint64_t)least)
            cairo_rectangle(cr, x + i, y, 1, 3);
    cairo_fill(cr);
}

static struct target_colour colour_of(const struct view *view, uint32_t line)
{
    const struct target_kind *kind = book_kind(&view->link.source.book, line);
    return kind ? kind->colour : (struct target_colour){0.35, 0.35, 0.35};
}

static void paint_ticks(struct view *view, cairo_t *cr, double names, double height)
{
    const struct finder *f = &view->finder;
    const struct shown_density *d = &view->stage.far;
    if (view->place.column_ns)
        return; /* hits are known by position only */
    cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, 0.5);
    for (uint32_t i = 0; i < f->hit_count && i < 5000; i++) {
        double share = share_of(d, (double)f->positions[i]);
        if (share >= 0 && share < 1)
            cairo_rectangle(cr, names + floor(share * far_width(view)), 0, 1, height);
    }
    cairo_fill(cr);
}

void far_draw(struct view *view, cairo_t *cr, int width, int height)
{
    const struct shown_density *d = &view->stage.far;
    struct paint_theme theme = stage_theme(view);
    double names = stage_names_px(view), high = SCENE_ROW_PT;
    double rise = view->place.rise_pt;
    (void)width;
    for (uint32_t i = 0; i < d->row_count; i++) {
        double y = 8 + i * high - rise;
        if (y + high < 0 || y > height)
            continue;
        struct target_colour c = colour_of(view, d->rows[i]);
        paint_strip(cr, d, i, c, theme.dark, names, y + 4, far_width(view), high - 10);
        paint_blocked(cr, view, i, names, y + high - 5);
        double v = theme.dark ? 0.85 : 0.15;
        cairo_set_source_rgb(cr, v, v, v);
        cairo_save(cr);
        cairo_rectangle(cr, 0, y, names - 4, high);
        cairo_clip(cr);
        lettering_show(cr, 8, y + 6, book_label(the_book(view), d->rows[i]), 10, false);
        cairo_restore(cr);
    }
    paint_ticks(view, cr, names, height);
}

/* ---- the picture from far ---- */

/* False: there is none in this part. */
static bool read_density(const struct answer *answer, struct shown_density *density)
{
    if (answer->part != PART_DENSITY)
        return false;
    get_density(answer->in, density);
    if (in_done(answer->in))
        return true;
    shown_density_free(density);
    return false;
}

/* Of which lines; false: there are none yet. */
static bool rows_asked(struct view *view, struct window_request *rows)
{
    place_request(&view->place, rows);
    if (rows_for_density(view, rows))
        return true;
    free(rows->rows);
    free(rows->joined);
    return false;
}

static void ask_density(struct view *view, struct inquiry *inquiry, struct density_request *request,
                        struct window_request *rows, source_take *take)
{
    struct out body = {0};
    request->by_time = view->place.column_ns > 0;
    request->rows = rows->rows;
    request->joined = rows->joined;
    request->row_count = rows->row_count;
    put_density_request(&body, request);
    free(rows->rows);
    free(rows->joined);
    inquiry_ask(view, inquiry, ASK_DENSITY, &body, take);
}

static void take_far(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct place *p = &view->place;
    struct shown_density density;
    if (read_density(answer, &density)) {
        shown_density_free(&view->stage.far);
        view->stage.far = density;
        view->stage.row_total = density.row_count;
        if (p->far_to <= p->far_from) {
            p->far_from = (double)density.from;
            p->far_to = (double)density.to;
        }
        canvas_bars(view);
        gtk_widget_queue_draw(view->canvas);
        gtk_widget_queue_draw(view->map);
    }
    if (inquiry_again(&view->stage.counting, answer))
        link_window(view);
}

void far_ask(struct view *view)
{
    if (!inquiry_may(view, &view->stage.counting))
        return;
    double width = stage_along_px(view) - stage_names_px(view);
    struct window_request rows;
    if (!rows_asked(view, &rows))
        return;
    struct density_request request = {.pixels = (uint32_t)MAX(width, 16),
                                      .from = (int64_t)view->place.far_from,
                                      .to = (int64_t)view->place.far_to};
    request.blocked = request.to - request.from < 2000000;
    ask_density(view, &view->stage.counting, &request, &rows, take_far);
}

/* From marks: the same positions at both edges. */
void far_enter(struct view *view)
{
    struct place *p = &view->place;
    uint64_t first, last;
    stage_positions(view, &first, &last);
    p->follow = false;
    if (p->anchor == ANCHOR_END)
        p->anchor = ANCHOR_POSITION;
    p->far = true;
    p->far_from = (double)first;
    p->far_to = (double)last + 1;
    if (p->column_ns)
        p->far_from = p->far_to = 0;
    far_ask(view);
    actions_update(view);
}

uint64_t far_position(const struct view *view, double x_px)
{
    const struct place *p = &view->place;
    double share = (x_px - stage_names_px(view)) / far_width(view);
    double at = p->far_from + CLAMP(share, 0, 1) * (p->far_to - p->far_from);
    return at > 0 ? (uint64_t)at : 0;
}

static void go_near(struct view *view, double x_px)
{
    struct place *p = &view->place;
    uint64_t position = far_position(view, x_px);
    p->zoom = ZOOM_LEAST;
    motion_to_position(view, position);
    view->hold.x_px = x_px;
}

void far_zoom(struct view *view, double factor, double x_px)
{
    struct place *p = &view->place;
    double share = CLAMP((x_px - stage_names_px(view)) / far_width(view), 0, 1);
    double at = p->far_from + share * (p->far_to - p->far_from), span = (p->far_to - p->far_from) / factor;
    double marks = MAX(LEAST_EVENTS, far_width(view) / ZOOM_LEAST / SCENE_COLUMN_PT);
    if (!p->column_ns && factor > 1 && span < marks) {
        go_near(view, x_px);
        return;
    }
    span = MAX(span, 1);
    p->far_from = MAX(at - share * span, p->column_ns ? -1e18 : 0);
    p->far_to = p->far_from + span;
    if (!p->column_ns && p->far_to > (double)view->link.count)
        p->far_to = (double)MAX(view->link.count, 1);
    far_ask(view);
}

void far_pan(struct view *view, double x_px)
{
    struct place *p = &view->place;
    double span = p->far_to - p->far_from, by = x_px / far_width(view) * span;
    history_mark(view, "scroll");
    if (!p->column_ns)
        by = CLAMP(by, -p->far_from, MAX(0, (double)view->link.count - p->far_to));
    p->far_from += by;
    p->far_to += by;
    far_ask(view);
}

/* ---- the map ---- */

static void take_map(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_density density;
    if (!read_density(answer, &density))
        return;
    shown_density_free(&view->density);
    view->density = density;
    gtk_widget_queue_draw(view->map);
}

#define MAP_STRIPS 24u

/* All lines, in as many strips as can be seen. */
void map_ask(struct view *view)
{
    int width = gtk_widget_get_width(view->map);
    if (!view->link.connected || !view->link.has_run || inquiry_runs(view, &view->mapping) || width < 10)
        return;
    struct window_request rows;
    if (!rows_asked(view, &rows))
        return;
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] = i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct density_request request = {.pixels = (uint32_t)width};
    ask_density(view, &view->mapping, &request, &rows, take_map);
}

static void map_draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct view *view = data;
    const struct shown_density *d = &view->density;
    struct paint_theme theme = stage_theme(view);
    (void)area;
    paint_background(cr, &theme);
    if (!d->row_count)
        return;
    double high = (double)height / d->row_count;
    for (uint32_t i = 0; i < d->row_count; i++)
        paint_strip(cr, d, i, colour_of(view, d->rows[i]), theme.dark, 0, i * high, width,
                    MAX(high - 0.5, 0.5));
    if (d->from >= d->to || view->place.column_ns)
        return;
    uint64_t first = (uint64_t)MAX(view->place.far_from, 0), last = (uint64_t)MAX(view->place.far_to, 0);
    if (!view->place.far)
        stage_positions(view, &first, &last);
    double left = share_of(d, (double)first) * width, right = share_of(d, (double)last + 1) * width;
    cairo_set_source_rgba(cr, 0.9, 0.62, 0, 0.25);
    cairo_rectangle(cr, left, 0, MAX(right - left, 2), height);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

static void map_go(struct view *view, double x)
{
    const struct shown_density *d = &view->density;
    double share = CLAMP(x / MAX(gtk_widget_get_width(view->map), 1), 0, 1);
    if (d->to <= d->from || view->place.column_ns)
        return;
    if (view->place.far) {
        double span = view->place.far_to - view->place.far_from;
        double middle = (double)d->from + share * (double)(d->to - d->from);
        far_pan(view, (middle - span / 2 - view->place.far_from) / MAX(span, 1) * far_width(view));
        return;
    }
    motion_to_position(view, (uint64_t)((double)d->from + share * (double)(d->to - d->from)));
}

static void on_map_drag(GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
    double x, y;
    (void)dy;
    if (gtk_gesture_drag_get_start_point(gesture, &x, &y))
        map_go(data, x + dx);
}

static void on_map_begin(GtkGestureDrag *gesture, double x, double y, gpointer data)
{
    (void)gesture;
    (void)y;
    map_go(data, x);
}

static void on_map_resize(GtkDrawingArea *area, int width, int height, gpointer data)
{
    (void)area;
    (void)width;
    (void)height;
    map_ask(data);
}

GtkWidget *map_new(struct view *view)
{
    view->map = gtk_drawing_area_new();
    gtk_widget_set_size_request(view->map, -1, 44);
    gtk_widget_set_tooltip_text(view->map, "The whole run: click or drag to go there");
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->map), map_draw, view, NULL);
    g_signal_connect(view->map, "resize", G_CALLBACK(on_map_resize), view);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_map_begin), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_map_drag), view);
    gtk_widget_add_controller(view->map, GTK_EVENT_CONTROLLER(drag));
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->map), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Map of the whole run", -1);
    return view->map;
}
