#include "clients/viewer/diagram/overview_map.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- event densities ---- */

/* Returns the fraction at which a position, or a time, is: 0 to 1, or outside. */
static double event_density_share(const struct density_info *d, double at)
{
    return d->to > d->from ? (at - (double)d->from) / (double)(d->to - d->from) : 0;
}

static void event_density_set_pixel(unsigned char *pixel, uint32_t count, uint32_t most,
                                    struct target_color c, bool dark)
{
    double v = 0.2 + 0.8 * log(1.0 + count) / log(1.0 + most), ground = painter_brightness(dark);
    pixel[0] = (unsigned char)(255 * (ground + (c.blue - ground) * v));
    pixel[1] = (unsigned char)(255 * (ground + (c.green - ground) * v));
    pixel[2] = (unsigned char)(255 * (ground + (c.red - ground) * v));
}

/* Paints one row as a band, one image pixel for each pixel of the density. */
static void event_density_paint(cairo_t *cr, const struct density_info *d, uint32_t row,
                                struct target_color c, bool dark, double x, double y, double width,
                                double height)
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
            event_density_set_pixel(data + 4 * i, counts[i], most, c, dark);
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

static struct target_color event_density_color(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return kind ? kind->color : (struct target_color){0.35, 0.35, 0.35};
}

/* Reads a part of the answer. Returns false if it contains no density. */
static bool event_density_read(const struct response_chunk *answer, struct density_info *density)
{
    if (answer->part != RESPONSE_DENSITY)
        return false;
    decode_density(answer->in, density);
    if (decoder_finish(answer->in))
        return true;
    density_info_free(density);
    return false;
}

/* ---- requests ---- */

static void overview_map_receive(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct density_info density;
    if (!event_density_read(answer, &density))
        return;
    density_info_free(&view->overview_map.density);
    view->overview_map.density = density;
    g_clear_pointer(&view->overview_map.image.surface, cairo_surface_destroy);
    view->overview_map.by_time = view->overview_map.asked_by_time;
    gtk_widget_queue_draw(view->overview_map.widget);
    if (request_slot_resend_needed(&view->overview_map.asked, answer))
        overview_map_request(view);
}

#define MAP_STRIPS 24u

void overview_map_request(struct view *view)
{
    int width = gtk_widget_get_width(view->overview_map.widget);
    if (!view->server_link.connected || !view->server_link.has_run || width < 10 ||
        !request_slot_try_acquire(&view->server_link, &view->overview_map.asked))
        return;
    struct window_request rows;
    if (!row_requests_for_density(view, &rows))
        return;
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] =
                i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct encoder body = {0};
    struct density_request request = {.by_time = view->viewport.place.column_ns > 0,
                                      .pixels = (uint32_t)width,
                                      .rows = rows.rows,
                                      .joined = rows.joined,
                                      .row_count = rows.row_count};
    view->overview_map.asked_by_time = request.by_time;
    encode_density_request(&body, &request);
    free(rows.rows);
    free(rows.joined);
    request_slot_send(&view->server_link, &view->overview_map.asked, REQUEST_DENSITY, &body,
                      overview_map_receive, view);
}

/* ---- drawing ---- */

/* Frames a part of the map, by shares of its width. */
static void overview_map_draw_frame(cairo_t *cr, double from, double to, int width, int height)
{
    double left = CLAMP(from, 0, 1) * width, right = CLAMP(to, 0, 1) * width;
    cairo_rectangle(cr, left, 0, MAX(right - left, 2), height);
    cairo_set_source_rgba(cr, 0.9, 0.62, 0, 0.3);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

/* Frames the visible part of the run. By order, that is from the first of the visible events to the
 * last. */
static void overview_map_frame_visible(struct view *view, cairo_t *cr, int width, int height)
{
    const struct view_state *p = &view->viewport.place;
    const struct density_info *d = &view->overview_map.density;
    double from = p->overview_from, to = p->overview_to;
    int64_t from_ns, to_ns;
    uint64_t first, last;
    if (!p->overview && p->column_ns) {
        viewport_times(&view->viewport, &from_ns, &to_ns);
        from = (double)from_ns, to = (double)to_ns;
    } else if (!p->overview) {
        viewport_positions(&view->viewport, &first, &last);
        from = (double)first, to = (double)last + 1;
    }
    overview_map_draw_frame(cr, event_density_share(d, from), event_density_share(d, to), width,
                            height);
}

/* ---- a run with its whole diagram there ---- */

/* Returns whether the scene has the whole run, by order: then the map has its columns. */
static bool overview_map_is_scene(const struct view *view)
{
    const struct scene_cache *cache = &view->scene_cache;
    const struct view_state *p = &view->viewport.place;
    return cache->scene && cache->scene->row_count && !p->overview && !p->column_ns &&
           !cache->window.more_left && !cache->window.more_right && cache->row_base == 0 &&
           cache->row_total <= cache->scene->row_count;
}

static double overview_map_scene_share(const struct scene *s, double x_pt)
{
    return (x_pt - s->names_pt) / MAX(s->width_pt - s->names_pt, 1);
}

static void overview_map_draw_scene(struct view *view, cairo_t *cr, int width, int height)
{
    const struct scene *s = view->scene_cache.scene;
    double high = (double)height / s->row_count, left = viewport_left_pt(&view->viewport);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        struct target_color c =
            event_density_color(view_metadata(view), s->rows[s->marks[i].row].line);
        cairo_set_source_rgb(cr, c.red, c.green, c.blue);
        cairo_rectangle(cr, overview_map_scene_share(s, s->marks[i].x_pt) * width - 1,
                        s->marks[i].row * high, 2, MAX(high - 0.5, 0.5));
        cairo_fill(cr);
    }
    overview_map_draw_frame(cr, overview_map_scene_share(s, left),
                            overview_map_scene_share(s, left + viewport_width_pt(&view->viewport)),
                            width, height);
}

/* ---- the map ---- */

static void overview_map_paint_strips(struct view *view, cairo_t *cr, int width, int height)
{
    const struct density_info *d = &view->overview_map.density;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double high = (double)height / d->row_count;
    painter_fill_background(cr, &theme);
    for (uint32_t i = 0; i < d->row_count; i++)
        event_density_paint(cr, d, i, event_density_color(view_metadata(view), d->rows[i]),
                            theme.dark, 0, i * high, width, MAX(high - 0.5, 0.5));
}

/* Returns the painted bands, which are cached: only the frame over them moves. */
static cairo_surface_t *overview_map_image(struct view *view, int width, int height)
{
    bool dark = viewer_settings_theme(&view->viewer_settings).dark;
    int scale = gtk_widget_get_scale_factor(view->overview_map.widget);
    struct overview_map *m = &view->overview_map;
    if (m->image.surface && m->image.width == width && m->image.height == height &&
        m->image.scale == scale && m->image.dark == dark)
        return m->image.surface;
    g_clear_pointer(&m->image.surface, cairo_surface_destroy);
    m->image.surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale);
    cairo_surface_set_device_scale(m->image.surface, scale, scale);
    m->image.width = width;
    m->image.height = height;
    m->image.scale = scale;
    m->image.dark = dark;
    cairo_t *cr = cairo_create(m->image.surface);
    overview_map_paint_strips(view, cr, width, height);
    cairo_destroy(cr);
    return m->image.surface;
}

static void overview_map_draw(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                              gpointer data)
{
    struct view *view = data;
    const struct density_info *d = &view->overview_map.density;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    (void)area;
    painter_fill_background(cr, &theme);
    if (overview_map_is_scene(view)) {
        overview_map_draw_scene(view, cr, width, height);
        return;
    }
    if (!d->row_count)
        return;
    cairo_set_source_surface(cr, overview_map_image(view, width, height), 0, 0);
    cairo_paint(cr);
    run_notes_draw_flags(
        &view->run_notes, cr,
        &(struct run_notes_range){view->overview_map.by_time, (double)d->from, (double)d->to}, 0,
        width);
    if (d->from < d->to && view->overview_map.by_time == (view->viewport.place.column_ns > 0))
        overview_map_frame_visible(view, cr, width, height);
}

/* ---- pointer and notifications ---- */

static void overview_map_go(struct view *view, double x)
{
    const struct density_info *d = &view->overview_map.density;
    double share = CLAMP(x / MAX(gtk_widget_get_width(view->overview_map.widget), 1), 0, 1);
    if (overview_map_is_scene(view)) {
        const struct scene *s = view->scene_cache.scene;
        scroll_to(view, s->names_pt + share * (s->width_pt - s->names_pt) -
                            viewport_width_pt(&view->viewport) / 2);
        return;
    }
    if (d->to <= d->from || view->overview_map.by_time != (view->viewport.place.column_ns > 0))
        return;
    if (view->viewport.place.overview) {
        double span = view->viewport.place.overview_to - view->viewport.place.overview_from;
        double middle = (double)d->from + share * (double)(d->to - d->from);
        overview_pan(view, (middle - span / 2 - view->viewport.place.overview_from) / MAX(span, 1) *
                               overview_width_px(view));
        return;
    }
    double at = (double)d->from + share * (double)(d->to - d->from);
    if (view->viewport.place.column_ns)
        go_to_time(view, (int64_t)at);
    else
        go_to_position(view, (uint64_t)at);
}

static void overview_map_on_drag(GtkGestureDrag *gesture, double dx, double dy, gpointer data)
{
    double x, y;
    (void)dy;
    if (gtk_gesture_drag_get_start_point(gesture, &x, &y))
        overview_map_go(data, x + dx);
}

static void overview_map_on_begin(GtkGestureDrag *gesture, double x, double y, gpointer data)
{
    (void)gesture;
    (void)y;
    overview_map_go(data, x);
}

static void overview_map_on_resize(GtkDrawingArea *area, int width, int height, gpointer data)
{
    (void)area;
    (void)width;
    (void)height;
    overview_map_request(data);
}

static void overview_map_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_ROWS || what == NOTIFY_RESTORED)
        overview_map_request(view); /* the axis or the lines may differ */
    else
        gtk_widget_queue_draw(view->overview_map.widget);
}

GtkWidget *overview_map_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_ROWS) | NOTIFY_BIT(NOTIFY_RESTORED) |
                         NOTIFY_BIT(NOTIFY_LOOK) | NOTIFY_BIT(NOTIFY_HITS) |
                         NOTIFY_BIT(NOTIFY_NOTES) | NOTIFY_BIT(NOTIFY_VISIBLE_PART) |
                         NOTIFY_BIT(NOTIFY_DIAGRAM) | NOTIFY_BIT(NOTIFY_SETTINGS),
                     overview_map_on_notification);
    view->overview_map.widget = gtk_drawing_area_new();
    gtk_widget_set_size_request(view->overview_map.widget, -1, 44);
    gtk_widget_set_tooltip_text(view->overview_map.widget, "Minimap; click or drag to navigate");
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->overview_map.widget), overview_map_draw,
                                   view, NULL);
    g_signal_connect(view->overview_map.widget, "resize", G_CALLBACK(overview_map_on_resize), view);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(overview_map_on_begin), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(overview_map_on_drag), view);
    gtk_widget_add_controller(view->overview_map.widget, GTK_EVENT_CONTROLLER(drag));
    accessible_name_set(view->overview_map.widget, "Minimap of the whole run");
    return view->overview_map.widget;
}
