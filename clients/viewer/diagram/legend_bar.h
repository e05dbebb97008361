/* The legend below the diagram. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LEGEND_BAR_H
#define CLIENTS_VIEWER_DIAGRAM_LEGEND_BAR_H

#include <gtk/gtk.h>

struct view;

GtkWidget *legend_bar_new(struct view *view);
void legend_bar_show(struct view *view); /* shows or hides it, according to the settings */

#endif
