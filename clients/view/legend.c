/* The legend, below the picture: what the symbols in it mean. */
#include "clients/view/view.h"

#define SCALE 1.25

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct view *view = data;
    struct paint_theme theme = stage_theme(view);
    const struct scene *s = view->stage.scene;
    (void)area;
    (void)width;
    (void)height;
    paint_background(cr, &theme);
    if (!s || view->place.far)
        return;
    struct paint_part part = {.notes = true};
    cairo_scale(cr, SCALE, SCALE);
    cairo_translate(cr, 0, -s->bottom_pt - 4);
    paint_scene(cr, s, &theme, &part, NULL);
}

void legend_show(struct view *view)
{
    bool on = view->settings.look.legend;
    if (on != gtk_widget_get_visible(view->legend)) {
        gtk_widget_set_visible(view->legend, on);
        stage_rebuild(view); /* with its symbols, or without */
    }
    const struct scene *s = view->stage.scene;
    if (on && s && s->key_count)
        gtk_widget_set_size_request(view->legend, -1, (int)((s->height_pt - s->bottom_pt) * SCALE) + 4);
    gtk_widget_queue_draw(view->legend);
}

GtkWidget *legend_new(struct view *view)
{
    view->legend = gtk_drawing_area_new();
    gtk_widget_set_visible(view->legend, FALSE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->legend), draw, view, NULL);
    return view->legend;
}
