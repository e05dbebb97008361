/* The legend, below the picture: what the symbols in it mean. */
#include "clients/view/view.h"

#define SCALE 1.25

/* From the first line of keys to the last, downwards. */
static void extent(const struct scene *s, double *least, double *most)
{
    *least = s->key_count ? 1e9 : 0;
    *most = 0;
    for (uint32_t i = 0; i < s->key_count; i++) {
        double y = s->vertical ? s->keys[i].x_pt : s->keys[i].y_pt;
        *least = MIN(*least, y);
        *most = MAX(*most, y);
    }
}

static void draw(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    struct view *view = data;
    struct paint_theme theme = stage_theme(view);
    const struct scene *s = view->stage.scene;
    struct paint_part part = {.notes = true};
    double least, most;
    (void)area;
    (void)width;
    (void)height;
    paint_background(cr, &theme);
    if (!s || view->place.far)
        return;
    extent(s, &least, &most);
    cairo_scale(cr, SCALE, SCALE);
    cairo_translate(cr, 0, 10 - least);
    if (s->vertical)
        paint_turn(cr);
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
    double least, most;
    if (on && s && s->key_count) {
        extent(s, &least, &most);
        gtk_widget_set_size_request(view->legend, -1, (int)((most - least + 20) * SCALE));
    }
    gtk_widget_queue_draw(view->legend);
}

GtkWidget *legend_new(struct view *view)
{
    view->legend = gtk_drawing_area_new();
    gtk_widget_set_visible(view->legend, FALSE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->legend), draw, view, NULL);
    return view->legend;
}
