#include "clients/viewer/script_coordinates.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/event_types.h"

#include <stdio.h>

static void write_spot(struct view *view, FILE *f, GtkWidget *widget, const char *what,
                       const char *name, double x, double y)
{
    graphene_point_t at;
    bool drawn = widget == view->canvas, turned = drawn && viewport_vertical(&view->viewport);
    double unit = drawn ? view->viewport.unit_px : 1;
    x *= unit;
    y *= unit;
    if (!gtk_widget_compute_point(
            widget, view->window,
            &GRAPHENE_POINT_INIT((float)(turned ? y : x), (float)(turned ? x : y)), &at))
        return;
    fprintf(f, "%s %s %.0f %.0f\n", what, name, (double)at.x, (double)at.y);
}

/* Writes the positions of buttons, by action, and of the slider. */
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

void script_coordinates_write(struct view *view, const char *file)
{
    const struct scene *s = view->scene_cache.scene;
    double names = viewport_names_px(&view->viewport);
    FILE *f = s ? fopen(file, "we") : NULL;
    if (!f)
        return;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        char at[48];
        event_id_print(at, sizeof at, s->marks[i].event->at);
        if (viewport_sees(&view->viewport, &s->marks[i]))
            write_spot(view, f, view->canvas, "event", at,
                       viewport_x_px(&view->viewport, &s->marks[i]),
                       viewport_y_px(&view->viewport, s->marks[i].row));
    }
    for (uint32_t i = 0; i < s->row_count; i++) {
        char line[16];
        snprintf(line, sizeof line, "%u", s->rows[i].line);
        write_spot(view, f, view->canvas, "name", line, 30, viewport_y_px(&view->viewport, i));
        write_spot(view, f, view->canvas, "back", line, names - 13,
                   viewport_y_px(&view->viewport, i));
        write_spot(view, f, view->canvas, "on", line, names - 4, viewport_y_px(&view->viewport, i));
    }
    write_spot(view, f, view->overview_map.widget, "map", "begin", 30, 20);
    write_spot(view, f, view->overview_map.widget, "map", "middle",
               gtk_widget_get_width(view->overview_map.widget) / 2.0, 20);
    write_buttons(view, f, view->window);
    write_spot(view, f, view->canvas, "picture", "free", names + 60,
               viewport_across_px(&view->viewport) - 30);
    fclose(f);
}

/* Writes the rows: their lines, heights, and middles on the canvas. */
void script_coordinates_write_rows(struct view *view, const char *file)
{
    const struct viewport *c = &view->viewport;
    const struct scene *s = view->scene_cache.scene;
    uint32_t count = c->place.overview ? view->overview.strip.row_count : s ? s->row_count : 0;
    double zoom = c->place.overview ? 1 : c->place.zoom;
    FILE *f = fopen(file, "we");
    if (!f)
        return;
    fprintf(f, "rows %u high %.1f canvas %.0f pinned %u rise %.1f\n", count,
            viewport_row_pt(c) * zoom, viewport_across_px(c), view->scene_cache.pinned,
            c->place.rise_pt);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line = c->place.overview ? view->overview.strip.rows[i] : s->rows[i].line;
        double y = c->place.overview ? bands_view_y_px(view, i) : viewport_y_px(c, i);
        fprintf(f, "%u %s %.0f%s%s\n", line, metadata_label(view_metadata(view), line), y,
                i < view->scene_cache.pinned ? " pinned" : "",
                row_search_is_hit(view, line) ? " found" : "");
    }
    fclose(f);
}
