/* A button with only an icon. */
#ifndef CLIENTS_VIEWER_STATE_ICON_BUTTON_H
#define CLIENTS_VIEWER_STATE_ICON_BUTTON_H

#include <gtk/gtk.h>

GtkWidget *icon_button_new(const char *icon, const char *action, const char *tooltip);

#endif
