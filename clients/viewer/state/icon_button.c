#include "clients/viewer/state/icon_button.h"

GtkWidget *icon_button_new(const char *icon, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_button_new_from_icon_name(icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
    return b;
}
