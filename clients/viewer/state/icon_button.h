/* A button with only an icon. */
#ifndef CLIENTS_VIEWER_STATE_ICON_BUTTON_H
#define CLIENTS_VIEWER_STATE_ICON_BUTTON_H

#include <gtk/gtk.h>

/* Returns a new one. action: as "win.NAME"; tooltip: also its name for screen readers. */
static inline GtkWidget *icon_button_new(const char *icon, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_button_new_from_icon_name(icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
    return b;
}

#endif
