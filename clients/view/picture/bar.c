#include "clients/view/picture/bar.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/news.h"
#include "clients/view/picture/view.h"

static gboolean orient(gpointer data)
{
    struct view *view = data;
    view->bar.orienting = 0;
    GtkOrientation now = gtk_orientable_get_orientation(GTK_ORIENTABLE(view->bar.widget));
    bool turned = camera_vertical(&view->camera);
    if (turned == (now == GTK_ORIENTATION_HORIZONTAL))
        return G_SOURCE_REMOVE;
    g_object_ref(view->bar.widget);
    gtk_grid_remove(GTK_GRID(view->bar.grid), view->bar.widget);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(view->bar.widget),
                                   turned ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
    gtk_grid_attach(GTK_GRID(view->bar.grid), view->bar.widget, !turned, turned, 1, 1);
    g_object_unref(view->bar.widget);
    return G_SOURCE_REMOVE;
}

void bar_update(struct view *view)
{
    double height = camera_height_pt(&view->camera), page = camera_page_pt(&view->camera);
    view->bar.moving = true;
    view->camera.place.rise_pt = CLAMP(view->camera.place.rise_pt, 0, MAX(0, height - page));
    gtk_adjustment_configure(view->bar.at, view->camera.place.rise_pt, 0, MAX(height, page),
                             camera_row_pt(&view->camera), page, page);
    if (!view->bar.orienting)
        view->bar.orienting = g_idle_add(orient, view); /* not while sizes are given out */
    gtk_widget_set_opacity(view->bar.widget,
                           height > page + 1); /* it keeps its room: the picture must not move */
    view->bar.moving = false;
}

static void on_down(GtkAdjustment *adjustment, gpointer data)
{
    struct view *view = data;
    if (view->bar.moving)
        return;
    history_mark(&view->history, "rows");
    view->camera.place.rise_pt = gtk_adjustment_get_value(adjustment);
    if (view->stage.row_total > view->stage.window.row_count)
        news_tell(&view->news, NEWS_PLACE);
    news_tell(&view->news, NEWS_SEEN);
}

GtkWidget *bar_new(struct view *view)
{
    struct bar *bar = &view->bar;
    bar->grid = gtk_grid_new();
    bar->at = gtk_adjustment_new(0, 0, 1, 26, 100, 1);
    g_signal_connect(bar->at, "value-changed", G_CALLBACK(on_down), view);
    bar->widget = gtk_scrollbar_new(GTK_ORIENTATION_VERTICAL, bar->at);
    gtk_grid_attach(GTK_GRID(bar->grid), view->canvas, 0, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(bar->grid), bar->widget, 1, 0, 1, 1);
    return bar->grid;
}

void bar_to(struct view *view, double rise_pt) { gtk_adjustment_set_value(view->bar.at, rise_pt); }

void bar_stop(struct view *view)
{
    if (view->bar.orienting)
        g_source_remove(view->bar.orienting);
    view->bar.orienting = 0;
}
