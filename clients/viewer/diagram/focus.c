#include "clients/viewer/diagram/focus.h"

#include "clients/viewer/diagram/viewer.h"

GtkWidget *focus_widget(const struct view *view)
{
    return gtk_window_get_focus(GTK_WINDOW(view->window));
}

bool focus_is_in_entry(const struct view *view)
{
    GtkWidget *at = focus_widget(view);
    return at && (GTK_IS_EDITABLE(at) ||
                  (GTK_IS_TEXT_VIEW(at) && gtk_text_view_get_editable(GTK_TEXT_VIEW(at))));
}

bool focus_handles_keys(const struct view *view)
{
    GtkWidget *at = focus_widget(view);
    if (!at)
        return false;
    if (focus_is_in_entry(view) || GTK_IS_TEXT_VIEW(at) || g_object_get_data(G_OBJECT(at), "keys"))
        return true;
    if (GTK_IS_LABEL(at))
        return gtk_label_get_selection_bounds(GTK_LABEL(at), NULL, NULL);
    return GTK_IS_LIST_BOX_ROW(at) || gtk_widget_get_ancestor(at, GTK_TYPE_LIST_VIEW) ||
           gtk_widget_get_ancestor(at, GTK_TYPE_COLUMN_VIEW) ||
           gtk_widget_get_ancestor(at, GTK_TYPE_POPOVER);
}

bool focus_within(const struct view *view, GtkWidget *widget)
{
    GtkWidget *at = focus_widget(view);
    return at && (at == widget || gtk_widget_is_ancestor(at, widget));
}

void focus_leave(struct view *view, GtkWidget *widget)
{
    if (gtk_widget_get_mapped(widget) && gtk_widget_get_mapped(view->canvas) &&
        focus_within(view, widget))
        gtk_widget_grab_focus(view->canvas);
}

void focus_set_visible(struct view *view, GtkWidget *widget, bool visible)
{
    if (!visible)
        focus_leave(view, widget);
    gtk_widget_set_visible(widget, visible);
}
