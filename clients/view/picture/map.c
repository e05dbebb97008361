#include "clients/view/picture/map.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/paint.h"
#include "wire/placed.h"

static void take_map(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct shown_density density;
    if (!density_read(answer, &density))
        return;
    shown_density_free(&view->map.density);
    view->map.density = density;
    gtk_widget_queue_draw(view->map.widget);
}

#define MAP_STRIPS 24u

/* All lines, in as many strips as can be seen. */
void map_ask(struct view *view)
{
    int width = gtk_widget_get_width(view->map.widget);
    if (!view->link.connected || !view->link.has_run ||
        inquiry_runs(&view->link, &view->map.asked) || width < 10)
        return;
    struct window_request rows;
    if (!density_rows(view, &rows))
        return;
    if (rows.row_count > MAP_STRIPS)
        for (uint32_t i = 1; i < rows.row_count; i++)
            rows.joined[i] =
                i * MAP_STRIPS / rows.row_count == (i - 1) * MAP_STRIPS / rows.row_count;
    struct density_request request = {.pixels = (uint32_t)width};
    density_ask(view, &view->map.asked, &request, &rows, take_map);
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
    for (uint32_t i = 0; i < d->row_count; i++)
        density_paint(cr, d, i, density_colour(the_book(view), d->rows[i]), theme.dark, 0, i * high,
                      width, MAX(high - 0.5, 0.5));
    if (d->from >= d->to || view->camera.place.column_ns)
        return;
    uint64_t first = (uint64_t)MAX(view->camera.place.far_from, 0),
             last = (uint64_t)MAX(view->camera.place.far_to, 0);
    if (!view->camera.place.far)
        camera_positions(&view->camera, &first, &last);
    double left = density_share(d, (double)first) * width,
           right = density_share(d, (double)last + 1) * width;
    cairo_set_source_rgba(cr, 0.9, 0.62, 0, 0.25);
    cairo_rectangle(cr, left, 0, MAX(right - left, 2), height);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    cairo_set_line_width(cr, 1.5);
    cairo_stroke(cr);
}

static void map_go(struct view *view, double x)
{
    const struct shown_density *d = &view->map.density;
    double share = CLAMP(x / MAX(gtk_widget_get_width(view->map.widget), 1), 0, 1);
    if (d->to <= d->from || view->camera.place.column_ns)
        return;
    if (view->camera.place.far) {
        double span = view->camera.place.far_to - view->camera.place.far_from;
        double middle = (double)d->from + share * (double)(d->to - d->from);
        far_pan(view, (middle - span / 2 - view->camera.place.far_from) / MAX(span, 1) *
                          far_width_px(view));
        return;
    }
    jump_to_position(view, (uint64_t)((double)d->from + share * (double)(d->to - d->from)));
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
