#include "clients/viewer/diagram/time_scale.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"

#include <math.h>

static void on_scale(GtkRange *range, gpointer data)
{
    struct view *view = data;
    double v = gtk_range_get_value(range);
    if (!view->time_scale.moving && (view->viewport.place.column_ns || v > 0))
        time_scale_set(view, v);
}

/* Creates the scale: logical order at 0, then up to 10^10 ns per column. */
void time_scale_show(struct view *view)
{
    struct time_scale *t = &view->time_scale;
    uint64_t column_ns = view->viewport.place.column_ns;
    char text[64] = "logical order";
    t->moving = true;
    gtk_range_set_value(GTK_RANGE(t->scale), column_ns ? log10((double)column_ns) : 0);
    if (column_ns && view->viewport.place.overview)
        g_strlcpy(text, "time (overview)", sizeof text);
    else if (column_ns) {
        scene_duration((int64_t)column_ns, text, 40);
        g_strlcat(text, " per column", sizeof text);
    }
    gtk_label_set_text(GTK_LABEL(t->label), text);
    t->moving = false;
}

static void time_scale_on_notification(struct view *view, enum notification what)
{
    (void)what;
    time_scale_show(view);
}

GtkWidget *time_scale_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_DIAGRAM) | NOTIFY_BIT(NOTIFY_ACTIONS) |
                         NOTIFY_BIT(NOTIFY_SETTINGS),
                     time_scale_on_notification);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *title = gtk_label_new("Time axis:");
    view->time_scale.scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 10, 0.05);
    view->time_scale.label = gtk_label_new("");
    gtk_scale_set_draw_value(GTK_SCALE(view->time_scale.scale), FALSE);
    gtk_widget_set_size_request(view->time_scale.scale, 200, -1);
    gtk_label_set_width_chars(GTK_LABEL(view->time_scale.label), 16);
    gtk_label_set_xalign(GTK_LABEL(view->time_scale.label), 0);
    gtk_widget_set_tooltip_text(view->time_scale.scale,
                                "Time per column (leftmost: logical order)");
    accessible_name_from(view->time_scale.scale, title);
    g_signal_connect(view->time_scale.scale, "value-changed", G_CALLBACK(on_scale), view);
    gtk_widget_add_css_class(title, "dim-label");
    gtk_box_append(GTK_BOX(box), title);
    gtk_box_append(GTK_BOX(box), view->time_scale.scale);
    gtk_box_append(GTK_BOX(box), view->time_scale.label);
    return box;
}

void time_scale_set(struct view *view, double scale)
{
    struct view_state *p = &view->viewport.place;
    uint64_t column_ns = scale <= 0 ? 0 : (uint64_t)pow(10, scale);
    if (column_ns == p->column_ns)
        return;
    history_mark(&view->history, "time");
    if (scale > 0)
        view->time_scale.before = scale;
    if (!p->overview)
        scroll_anchor_keep_selected(&view->viewport);
    else
        p->overview_from = p->overview_to = 0;
    p->column_ns = column_ns;
    notifier_emit(&view->notifier, NOTIFY_ROWS);
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
}
