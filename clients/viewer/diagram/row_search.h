/* Search for rows by name: an entry above the diagram that scrolls to them. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ROW_SEARCH_H
#define CLIENTS_VIEWER_DIAGRAM_ROW_SEARCH_H

#include <gtk/gtk.h>

struct view;

GtkWidget *row_search_new(struct view *view); /* hidden until it is opened */
void row_search_open(struct view *view);
bool row_search_is_hit(const struct view *view,
                       uint32_t line); /* whether its row's label matches the search */

#endif
