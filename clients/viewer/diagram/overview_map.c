#include "clients/viewer/diagram/overview_map.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/diagram/event_density.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene_paint.h"
#include "wire/layout_results.h"

/* Notes the band of each line; joined NULL: one line each. */
static void note_strips(struct view *view, const uint32_t *lines, const uint8_t *joined,
                        uint32_t count)
{
    uint32_t most = 0, strip = 0;
    for (uint32_t i = 0; i < count; i++)
        most = MAX(most, lines[i]);
    g_free(view->overview_map.strip_of);
    view->overview_map.line_count = count ? most + 1 : 0;
    view->overview_map.strip_of = g_new0(uint32_t, most + 1);
    for (uint32_t i = 0; i < count; i++) {
        strip += i == 0 || !joined || !joined[i];
        view->overview_map.strip_of[lines[i]] = strip;
    }
}

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
    if (!view->overview_map.line_count)
        note_strips(view, density.rows, NULL, density.row_count);
    gtk_widget_queue_draw(view->overview_map.widget);
    if (request_slot_resend_needed(&view->overview_map.asked, answer))
        overview_map_request(view);
}

#define MAP_STRIPS 24u

/* Requests the density of all lines, several of them in a band if there are too many. */
void overview_map_request(struct view *view)
{
    int width = gtk_widget_get_width(view->overview_map.widget);
    if (!view->server_link.connected || !view->server_link.has_run || width < 10 ||
        !request_slot_try_acquire(&view->server_link, &view->overview_map.asked))
        return;
    struct window_request rows;
    if (!event_density_rows(view, &rows))
        return;
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] =
                i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct density_request request = {.pixels = (uint32_t)width};
    note_strips(view, rows.rows, rows.joined, rows.row_count);
    view->overview_map.asked_by_time = view->viewport.place.column_ns > 0;
    event_density_request(view, &view->overview_map.asked, &request, &rows, overview_map_receive);
}

/* Adds the box of a visible range, in one band or over all. */
static void overview_map_mark_visible_range(const struct view *view, cairo_t *cr, double from,
                                            double to, int width, cairo_rectangle_t box)
{
    const struct density_info *d = &view->overview_map.density;
    double left = CLAMP(event_density_share(d, from), 0, 1) * width,
           right = CLAMP(event_density_share(d, to), 0, 1) * width;
    cairo_rectangle(cr, left, box.y, MAX(right - left, 2), box.height);
}

/* By order, each row has its own visible range: early in the run for one, late for another. */
static void mark_rows(struct view *view, cairo_t *cr, int width, double high)
{
    const struct scene *s = view->scene_cache.scene;
    double left = viewport_left_pt(&view->viewport),
           right = left + viewport_width_pt(&view->viewport);
    uint32_t count = view->overview_map.density.row_count;
    uint64_t *first = g_new0(uint64_t, count), *last = g_new0(uint64_t, count);
    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        uint64_t at = m->event->position;
        uint32_t line = m->event->at.line;
        uint32_t strip =
            line < view->overview_map.line_count ? view->overview_map.strip_of[line] : 0;
        if (m->x_pt < left || m->x_pt > right || at == NO_POSITION || !strip || strip > count)
            continue;
        first[strip - 1] = first[strip - 1] ? MIN(first[strip - 1], at + 1) : at + 1;
        last[strip - 1] = MAX(last[strip - 1], at + 1);
    }
    for (uint32_t i = 0; i < count; i++)
        if (first[i])
            overview_map_mark_visible_range(view, cr, (double)first[i] - 1, (double)last[i], width,
                                            (cairo_rectangle_t){0, i * high, 0, high});
    g_free(first);
    g_free(last);
}

/* Frames the visible part of the run. */
static void overview_map_draw_frame(struct view *view, cairo_t *cr, int width, double high)
{
    const struct view_state *p = &view->viewport.place;
    double all = high * view->overview_map.density.row_count;
    int64_t from_ns, to_ns;
    viewport_times(&view->viewport, &from_ns, &to_ns);
    if (p->overview)
        overview_map_mark_visible_range(view, cr, p->overview_from, p->overview_to, width,
                                        (cairo_rectangle_t){0, 0, 0, all});
    else if (p->column_ns)
        overview_map_mark_visible_range(view, cr, (double)from_ns, (double)to_ns, width,
                                        (cairo_rectangle_t){0, 0, 0, all});
    else
        mark_rows(view, cr, width, high);
    cairo_set_source_rgba(cr, 0.9, 0.62, 0, 0.3);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

static void paint_strips(struct view *view, cairo_t *cr, int width, int height)
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
static cairo_surface_t *image_of(struct view *view, int width, int height)
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
    paint_strips(view, cr, width, height);
    cairo_destroy(cr);
    return m->image.surface;
}

static void map_draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct view *view = data;
    const struct density_info *d = &view->overview_map.density;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    (void)area;
    painter_fill_background(cr, &theme);
    if (!d->row_count)
        return;
    double high = (double)height / d->row_count;
    cairo_set_source_surface(cr, image_of(view, width, height), 0, 0);
    cairo_paint(cr);
    run_notes_draw_flags(
        &view->run_notes, cr,
        &(struct run_notes_range){view->overview_map.by_time, (double)d->from, (double)d->to}, 0,
        width);
    if (d->from < d->to && view->overview_map.by_time == (view->viewport.place.column_ns > 0))
        overview_map_draw_frame(view, cr, width, high);
}

static void map_go(struct view *view, double x)
{
    const struct density_info *d = &view->overview_map.density;
    double share = CLAMP(x / MAX(gtk_widget_get_width(view->overview_map.widget), 1), 0, 1);
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
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->overview_map.widget), map_draw, view,
                                   NULL);
    g_signal_connect(view->overview_map.widget, "resize", G_CALLBACK(on_map_resize), view);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_map_begin), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_map_drag), view);
    gtk_widget_add_controller(view->overview_map.widget, GTK_EVENT_CONTROLLER(drag));
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->overview_map.widget),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL, "Minimap of the whole run", -1);
    return view->overview_map.widget;
}
