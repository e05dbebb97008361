#include "clients/view/picture/map.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/flags.h"
#include "clients/view/picture/view.h"
#include "render/paint.h"
#include "wire/placed.h"

/* Which strip each line is in. */
static void note_strips(struct view *view, const uint32_t *lines, const uint8_t *joined,
                        uint32_t count)
{
    uint32_t most = 0, strip = 0;
    for (uint32_t i = 0; i < count; i++)
        most = MAX(most, lines[i]);
    g_free(view->map.strip_of);
    view->map.line_count = count ? most + 1 : 0;
    view->map.strip_of = g_new0(uint32_t, most + 1);
    for (uint32_t i = 0; i < count; i++) {
        strip += i == 0 || !joined || !joined[i];
        view->map.strip_of[lines[i]] = strip;
    }
}

static void take_map(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_density density;
    if (!density_read(answer, &density))
        return;
    shown_density_free(&view->map.density);
    view->map.density = density;
    g_clear_pointer(&view->map.image.surface, cairo_surface_destroy);
    view->map.by_time = view->map.asked_by_time;
    if (!view->map.line_count)
        note_strips(view, density.rows, NULL, density.row_count);
    gtk_widget_queue_draw(view->map.widget);
    if (inquiry_again(&view->map.asked, answer))
        map_ask(view);
}

#define MAP_STRIPS 24u

/* All lines, in as many strips as can be seen. */
void map_ask(struct view *view)
{
    int width = gtk_widget_get_width(view->map.widget);
    if (!view->link.connected || !view->link.has_run || width < 10 ||
        !inquiry_may(&view->link, &view->map.asked))
        return;
    struct window_request rows;
    if (!density_rows(view, &rows))
        return;
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] =
                i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct density_request request = {.pixels = (uint32_t)width};
    note_strips(view, rows.rows, rows.joined, rows.row_count);
    view->map.asked_by_time = view->camera.place.column_ns > 0;
    density_ask(view, &view->map.asked, &request, &rows, take_map);
}

/* What is seen from a place to another of one strip. */
static void mark_seen(const struct view *view, cairo_t *cr, double from, double to, int width,
                      cairo_rectangle_t box)
{
    const struct shown_density *d = &view->map.density;
    double left = CLAMP(density_share(d, from), 0, 1) * width,
           right = CLAMP(density_share(d, to), 0, 1) * width;
    cairo_rectangle(cr, left, box.y, MAX(right - left, 2), box.height);
}

/* By order, each row has its own part: what is seen of it may be long ago in one and just now in another. */
static void mark_rows(struct view *view, cairo_t *cr, int width, double high)
{
    const struct scene *s = view->stage.scene;
    double left = camera_left_pt(&view->camera), right = left + camera_width_pt(&view->camera);
    uint32_t count = view->map.density.row_count;
    uint64_t *first = g_new0(uint64_t, count), *last = g_new0(uint64_t, count);
    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        uint64_t at = m->event->position;
        uint32_t line = m->event->at.line;
        uint32_t strip = line < view->map.line_count ? view->map.strip_of[line] : 0;
        if (m->x_pt < left || m->x_pt > right || at == NO_POSITION || !strip || strip > count)
            continue;
        first[strip - 1] = first[strip - 1] ? MIN(first[strip - 1], at + 1) : at + 1;
        last[strip - 1] = MAX(last[strip - 1], at + 1);
    }
    for (uint32_t i = 0; i < count; i++)
        if (first[i])
            mark_seen(view, cr, (double)first[i] - 1, (double)last[i], width,
                      (cairo_rectangle_t){0, i * high, 0, high});
    g_free(first);
    g_free(last);
}

/* Where in the run that lies which is seen. */
static void frame(struct view *view, cairo_t *cr, int width, double high)
{
    const struct place *p = &view->camera.place;
    double all = high * view->map.density.row_count;
    int64_t from_ns, to_ns;
    camera_times(&view->camera, &from_ns, &to_ns);
    if (p->far)
        mark_seen(view, cr, p->far_from, p->far_to, width, (cairo_rectangle_t){0, 0, 0, all});
    else if (p->column_ns)
        mark_seen(view, cr, (double)from_ns, (double)to_ns, width,
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
    const struct shown_density *d = &view->map.density;
    struct paint_theme theme = settings_theme(&view->settings);
    double high = (double)height / d->row_count;
    paint_background(cr, &theme);
    for (uint32_t i = 0; i < d->row_count; i++)
        density_paint(cr, d, i, density_colour(the_book(view), d->rows[i]), theme.dark, 0, i * high,
                      width, MAX(high - 0.5, 0.5));
}

/* It is painted once: what moves is the frame over it. */
static cairo_surface_t *image_of(struct view *view, int width, int height)
{
    bool dark = settings_theme(&view->settings).dark;
    int scale = gtk_widget_get_scale_factor(view->map.widget);
    struct map *m = &view->map;
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
    const struct shown_density *d = &view->map.density;
    struct paint_theme theme = settings_theme(&view->settings);
    (void)area;
    paint_background(cr, &theme);
    if (!d->row_count)
        return;
    double high = (double)height / d->row_count;
    cairo_set_source_surface(cr, image_of(view, width, height), 0, 0);
    cairo_paint(cr);
    flags_draw(view, cr, &(struct flags_span){view->map.by_time, (double)d->from, (double)d->to}, 0,
               width);
    if (d->from < d->to && view->map.by_time == (view->camera.place.column_ns > 0))
        frame(view, cr, width, high);
}

static void map_go(struct view *view, double x)
{
    const struct shown_density *d = &view->map.density;
    double share = CLAMP(x / MAX(gtk_widget_get_width(view->map.widget), 1), 0, 1);
    if (d->to <= d->from || view->map.by_time != (view->camera.place.column_ns > 0))
        return;
    if (view->camera.place.far) {
        double span = view->camera.place.far_to - view->camera.place.far_from;
        double middle = (double)d->from + share * (double)(d->to - d->from);
        far_pan(view, (middle - span / 2 - view->camera.place.far_from) / MAX(span, 1) *
                          far_width_px(view));
        return;
    }
    double at = (double)d->from + share * (double)(d->to - d->from);
    if (view->camera.place.column_ns)
        jump_to_time(view, (int64_t)at);
    else
        jump_to_position(view, (uint64_t)at);
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
    view->map.widget = gtk_drawing_area_new();
    gtk_widget_set_size_request(view->map.widget, -1, 44);
    gtk_widget_set_tooltip_text(view->map.widget, "The whole run: click or drag to go there");
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->map.widget), map_draw, view, NULL);
    g_signal_connect(view->map.widget, "resize", G_CALLBACK(on_map_resize), view);
    GtkGesture *drag = gtk_gesture_drag_new();
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_map_begin), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_map_drag), view);
    gtk_widget_add_controller(view->map.widget, GTK_EVENT_CONTROLLER(drag));
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->map.widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Map of the whole run", -1);
    return view->map.widget;
}
