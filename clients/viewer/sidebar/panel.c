#include "clients/viewer/sidebar/panel.h"

#include "clients/viewer/state/notifications.h"
#include "clients/viewer/diagram/viewer.h"

void panel_keep(struct view *view, const struct panel *panel, void *state)
{
    g_object_set_data_full(G_OBJECT(view->panels), panel->name, state, g_free);
}

void *panel_state(const struct view *view, const struct panel *panel)
{
    return g_object_get_data(G_OBJECT(view->panels), panel->name);
}

void panel_show(struct view *view, const char *name)
{
    gtk_stack_set_visible_child_name(GTK_STACK(view->panels), name);
    if (!view->viewer_settings.panel) {
        view->viewer_settings.panel = true;
        notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    }
}

bool panel_is_first(struct view *view)
{
    return gtk_stack_get_visible_child(GTK_STACK(view->panels)) ==
           gtk_widget_get_first_child(view->panels);
}

void panel_back(struct view *view)
{
    GtkWidget *first = gtk_widget_get_first_child(view->panels);
    if (first)
        gtk_stack_set_visible_child(GTK_STACK(view->panels), first);
}
