/* The context menu of an event or of a line. */
#ifndef CLIENTS_VIEWER_DIAGRAM_CONTEXT_MENU_H
#define CLIENTS_VIEWER_DIAGRAM_CONTEXT_MENU_H

#include <gtk/gtk.h>

/* Handler of "pressed" of the canvas; data: the view. */
void context_menu_show(GtkGestureClick *gesture, int presses, double x, double y, gpointer data);

#endif
