/* The menu of the window. */
#ifndef CLIENTS_VIEWER_WINDOW_MENU_H
#define CLIENTS_VIEWER_WINDOW_MENU_H

#include <gtk/gtk.h>

struct view;

GMenuModel *window_menu_new(struct view *view);
void window_menu_update_recent(struct view *view); /* call when the recent sources have changed */

#endif
