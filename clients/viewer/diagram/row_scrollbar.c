/* The scroll bar of rows. */
#include "clients/viewer/diagram/scrolling.h"

#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewport.h"

static gboolean row_scrollbar_update_orientation(gpointer data)
{
    struct view *view = data;
    view->row_scrollbar.orienting = 0;
    GtkOrientation now = gtk_orientable_get_orientation(GTK_ORIENTABLE(view->row_scrollbar.widget));
    bool turned = viewport_vertical(&view->viewport);
    if (turned == (now == GTK_ORIENTATION_HORIZONTAL))
        return G_SOURCE_REMOVE;
    g_object_ref(view->row_scrollbar.widget);
    gtk_grid_remove(GTK_GRID(view->row_scrollbar.grid), view->row_scrollbar.widget);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(view->row_scrollbar.widget),
                                   turned ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
    gtk_grid_attach(GTK_GRID(view->row_scrollbar.grid), view->row_scrollbar.widget, !turned, turned,
                    1, 1);
    g_object_unref(view->row_scrollbar.widget);
    return G_SOURCE_REMOVE;
}

void row_scrollbar_update(struct view *view)
{
    double height = viewport_height_pt(&view->viewport), page = viewport_page_pt(&view->viewport);
    view->row_scrollbar.moving = true;
    view->viewport.place.rise_pt = CLAMP(view->viewport.place.rise_pt, 0, MAX(0, height - page));
    gtk_adjustment_configure(view->row_scrollbar.at, view->viewport.place.rise_pt, 0,
                             MAX(height, page), viewport_row_pt(&view->viewport), page, page);
    if (!view->row_scrollbar.orienting)
        view->row_scrollbar.orienting =
            g_idle_add(row_scrollbar_update_orientation, view); /* not during size allocation */
    gtk_widget_set_opacity(
        view->row_scrollbar.widget,
        height > page + 1); /* invisible, it keeps its space: the diagram must not move */
    view->row_scrollbar.moving = false;
}

static void on_down(GtkAdjustment *adjustment, gpointer data)
{
    struct view *view = data;
    if (view->row_scrollbar.moving)
        return;
    history_mark(&view->history, "rows");
    view->viewport.place.rise_pt = gtk_adjustment_get_value(adjustment);
    if (view->scene_cache.row_total > view->scene_cache.window.row_count)
        notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_VISIBLE_PART);
}

GtkWidget *row_scrollbar_new(struct view *view)
{
    struct row_scrollbar *bar = &view->row_scrollbar;
    bar->grid = gtk_grid_new();
    bar->at = gtk_adjustment_new(0, 0, 1, 26, 100, 1);
    g_signal_connect(bar->at, "value-changed", G_CALLBACK(on_down), view);
    bar->widget = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, bar->at);
    gtk_grid_attach(GTK_GRID(bar->grid), view->canvas, 0, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(bar->grid), bar->widget, 1, 0, 1, 1);
    return bar->grid;
}

void row_scrollbar_scroll_to(struct view *view, double rise_pt)
{
    gtk_adjustment_set_value(view->row_scrollbar.at, rise_pt);
}

void row_scrollbar_stop(struct view *view)
{
    g_clear_handle_id(&view->row_scrollbar.orienting, g_source_remove);
}
