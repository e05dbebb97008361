/* The page that is shown while there is no diagram. */
#ifndef CLIENTS_VIEWER_WELCOME_PAGE_H
#define CLIENTS_VIEWER_WELCOME_PAGE_H

#include <gtk/gtk.h>

struct view;

GtkWidget *welcome_page_new(struct view *view);
void welcome_page_show(struct view *view, const char *title, const char *text);
void welcome_page_leave(struct view *view); /* shows the diagram instead */

#endif
