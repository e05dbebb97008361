/* Row of tabs for the pages of a stack, which scrolls sideways if they do not fit: the tab of the
 * shown page is in view, and a shade at an edge says that there are more. */
#ifndef CLIENTS_VIEWER_STATE_PAGE_SWITCHER_H
#define CLIENTS_VIEWER_STATE_PAGE_SWITCHER_H

#include <gtk/gtk.h>
#include <stdbool.h>

/* Returns a new row of tabs. */
GtkWidget *page_switcher_new(GtkWidget *stack);
/* Returns whether the whole tab of the shown page is in view. */
bool page_switcher_is_in_view(GtkWidget *switcher);

#endif
