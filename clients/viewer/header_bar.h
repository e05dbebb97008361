/* The header bar: the name of the source, and buttons for common actions. */
#ifndef CLIENTS_VIEWER_HEADER_BAR_H
#define CLIENTS_VIEWER_HEADER_BAR_H

#include <gtk/gtk.h>

struct view;

GtkWidget *header_bar_new(struct view *view);
void header_bar_show_titles(struct view *view);

#endif
