#include "clients/view/spots.h"

#include "clients/book/book.h"
#include "clients/view/parts/camera.h"
#include "clients/view/picture/seek.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/event.h"

#include <stdio.h>

static void write_spot(struct view *view, FILE *f, GtkWidget *widget, const char *what,
                       const char *name, double x, double y)
{
    graphene_point_t at;
    bool drawn = widget == view->canvas, turned = drawn && camera_vertical(&view->camera);
    double unit = drawn ? view->camera.unit_px : 1;
    x *= unit;
    y *= unit;
    if (!gtk_widget_compute_point(
            widget, view->window,
            &GRAPHENE_POINT_INIT((float)(turned ? y : x), (float)(turned ? x : y)), &at))
        return;
    fprintf(f, "%s %s %.0f %.0f\n", what, name, (double)at.x, (double)at.y);
}

/* Buttons by what they do, and the slider. */
static void write_buttons(struct view *view, FILE *f, GtkWidget *in)
{
    const char *action =
        GTK_IS_ACTIONABLE(in) ? gtk_actionable_get_action_name(GTK_ACTIONABLE(in)) : NULL;
    double x = gtk_widget_get_width(in) / 2.0, y = gtk_widget_get_height(in) / 2.0;
    if (!gtk_widget_get_mapped(in))
        return;
    if (action && gtk_widget_is_sensitive(in))
        write_spot(view, f, in, "button", action, x, y);
    if (GTK_IS_SCALE(in))
        write_spot(view, f, in, "slider", "time", x, y);
    for (GtkWidget *child = gtk_widget_get_first_child(in); child;
         child = gtk_widget_get_next_sibling(child))
        write_buttons(view, f, child);
}

void spots_write(struct view *view, const char *file)
{
    const struct scene *s = view->stage.scene;
    double names = camera_names_px(&view->camera);
    FILE *f = s ? fopen(file, "we") : NULL;
    if (!f)
        return;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        char at[48];
        ref_print(at, sizeof at, s->marks[i].event->at);
        if (camera_sees(&view->camera, &s->marks[i]))
            write_spot(view, f, view->canvas, "event", at, camera_x_px(&view->camera, &s->marks[i]),
                       camera_y_px(&view->camera, s->marks[i].row));
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        char line[16];
        snprintf(line, sizeof line, "%u", s->rows[i].line);
        write_spot(view, f, view->canvas, "name", line, 30, camera_y_px(&view->camera, i));
        write_spot(view, f, view->canvas, "back", line, names - 13, camera_y_px(&view->camera, i));
        write_spot(view, f, view->canvas, "on", line, names - 4, camera_y_px(&view->camera, i));
    }
    write_spot(view, f, view->map.widget, "map", "begin", 30, 20);
    write_spot(view, f, view->map.widget, "map", "middle",
               gtk_widget_get_width(view->map.widget) / 2.0, 20);
    write_buttons(view, f, view->window);
    write_spot(view, f, view->canvas, "picture", "free", names + 60,
               camera_across_px(&view->camera) - 30);
    fclose(f);
}

/* Where rows are: their lines, how high they are and the middle of each, of the canvas. */
void spots_rows(struct view *view, const char *file)
{
    const struct camera *c = &view->camera;
    const struct scene *s = view->stage.scene;
    uint32_t count = c->place.far ? view->far.strip.row_count : s ? s->row_count : 0;
    double zoom = c->place.far ? 1 : c->place.zoom;
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    fprintf(f, "rows %u high %.1f canvas %.0f pinned %u rise %.1f\n", count,
            camera_row_pt(c) * zoom, camera_across_px(c), view->stage.pinned, c->place.rise_pt);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = c->place.far ? view->far.strip.rows[i] : s->rows[i].line;
        double y = c->place.far ? strips_y_px(view, i) : camera_y_px(c, i);
        fprintf(f, "%u %s %.0f%s%s\n", line, book_label(the_book(view), line), y,
                i < view->stage.pinned ? " pinned" : "", seek_hit(view, line) ? " found" : "");
    }
    fclose(f);
}
