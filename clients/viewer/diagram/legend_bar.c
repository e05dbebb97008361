#include "clients/viewer/diagram/legend_bar.h"

#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/legend.h"
#include "render/scene_paint.h"
#include "render/scene.h"

#define SCALE 1.25 /* of the symbols */
#define STANDING_PX 20 /* height of the line about relations */

/* Sets the y of the first and of the last line of keys. */
static void legend_bar_keys_extent(const struct scene *s, double *least, double *most)
{
    *least = s->key_count ? 1e9 : 0;
    *most = 0;
    for (uint32_t i = 0; i < s->key_count; i++) {
        double y = s->vertical ? s->keys[i].x_pt : s->keys[i].y_pt;
        *least = MIN(*least, y);
        *most = MAX(*most, y);
    }
}

/* Draws the key of the colors that tell how events are related to the selected one. */
static void legend_bar_draw_relations(GtkWidget *area, cairo_t *cr, int y)
{
    PangoLayout *layout = gtk_widget_create_pango_layout(area, NULL);
    char *markup = g_markup_printf_escaped(
        "<small>selected event (<span foreground=\"#E69F00\">◯</span>):  "
        "<span foreground=\"#0072B2\">◀ %s</span>   <span foreground=\"#D55E00\">%s ▶</span>   "
        "<span foreground=\"#737373\">%s</span>   "
        "<span foreground=\"#009E73\">◀▶ %s</span></small>",
        legend_relation_words[ORDER_BEFORE], legend_relation_words[ORDER_AFTER],
        legend_relation_words[ORDER_CONCURRENT], legend_relation_words[ORDER_UNKNOWN]);
    pango_layout_set_markup(layout, markup, -1);
    g_free(markup);
    cairo_move_to(cr, 10, y);
    pango_cairo_show_layout(cr, layout);
    g_object_unref(layout);
}

static void legend_bar_draw_area(GtkDrawingArea *area, cairo_t *cr, int width, int height,
                                 gpointer data)
{
    struct view *view = data;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    const struct scene *s = view->scene_cache.scene;
    struct paint_part part = {.notes = true};
    double least, most;
    painter_fill_background(cr, &theme);
    if (!s)
        return;
    double ink = theme.dark ? 0.85 : 0.15;
    cairo_set_source_rgb(cr, ink, ink, ink);
    if (view->scene_cache.colored)
        legend_bar_draw_relations(GTK_WIDGET(area), cr, height - letters_px(view, STANDING_PX));
    legend_bar_keys_extent(s, &least, &most);
    letters_scale(view, cr, &width, &height);
    cairo_scale(cr, SCALE, SCALE);
    cairo_translate(cr, 0, 10 - least);
    if (s->vertical)
        painter_rotate(cr);
    scene_paint(cr, s, &theme, &part, NULL);
}

/* Returns the greatest height since the width changed, so that the diagram does not move. */
static int legend_bar_max_height(struct view *view, int height)
{
    GObject *legend = G_OBJECT(view->legend);
    int wide = (int)viewport_along_px(&view->viewport), had = -1;
    if (GPOINTER_TO_INT(g_object_get_data(legend, "wide")) == wide)
        gtk_widget_get_size_request(view->legend, NULL, &had);
    g_object_set_data(legend, "wide", GINT_TO_POINTER(wide));
    return MAX(height, had);
}

#define ROOM_PX 640 /* least height of a window for diagram, legend and analysis pane */

static bool has_room(const struct view *view)
{
    int high = gtk_widget_get_height(view->window);
    return !view->viewer_settings.drawer || high <= 0 || high >= letters_px(view, ROOM_PX);
}

void legend_bar_show(struct view *view)
{
    bool on = view->viewer_settings.look.legend &&
              !view->viewport.place.overview && /* state bands have their own */
              has_room(view);
    if (on != gtk_widget_get_visible(view->legend)) {
        gtk_widget_set_visible(view->legend, on);
        diagram_view_rebuild(view); /* with or without its symbols */
    }
    const struct scene *s = view->scene_cache.scene;
    double least, most;
    if (on && s && s->key_count) {
        legend_bar_keys_extent(s, &least, &most);
        int height = letters_px(view, (most - least + 20) * SCALE + STANDING_PX);
        gtk_widget_set_size_request(view->legend, -1, legend_bar_max_height(view, height));
    }
    gtk_widget_queue_draw(view->legend);
}

static void legend_bar_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_EVENT_RELATIONS)
        gtk_widget_queue_draw(view->legend);
    else
        legend_bar_show(view);
}

GtkWidget *legend_bar_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_EVENT_RELATIONS) | NOTIFY_BIT(NOTIFY_DIAGRAM) |
                         NOTIFY_BIT(NOTIFY_ACTIONS) | NOTIFY_BIT(NOTIFY_SETTINGS),
                     legend_bar_on_notification);
    view->legend = gtk_drawing_area_new();
    gtk_widget_set_visible(view->legend, FALSE);
    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(view->legend), legend_bar_draw_area, view,
                                   NULL);
    return view->legend;
}
