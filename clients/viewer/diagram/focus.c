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

/* Moves the focus to the next widget outside of the list, forwards or backwards. */
static gboolean focus_on_tab(GtkWidget *list, GVariant *forwards, gpointer data)
{
    (void)data;
    gtk_widget_set_can_focus(list, FALSE);
    gboolean moved = gtk_widget_child_focus(GTK_WIDGET(gtk_widget_get_root(list)),
                                            g_variant_get_boolean(forwards) ? GTK_DIR_TAB_FORWARD
                                                                            : GTK_DIR_TAB_BACKWARD);
    gtk_widget_set_can_focus(list, TRUE);
    return moved;
}

void focus_tab_past_rows(GtkWidget *list)
{
    GtkEventController *keys = gtk_shortcut_controller_new();
    for (int forwards = 0; forwards < 2; forwards++) {
        GtkShortcut *tab =
            gtk_shortcut_new(gtk_keyval_trigger_new(GDK_KEY_Tab, forwards ? 0 : GDK_SHIFT_MASK),
                             gtk_callback_action_new(focus_on_tab, NULL, NULL));
        gtk_shortcut_set_arguments(tab, g_variant_new_boolean(forwards != 0));
        gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys), tab);
    }
    gtk_widget_add_controller(list, keys);
}
