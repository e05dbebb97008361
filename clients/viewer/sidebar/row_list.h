/* A list whose rows are links to events. */
#ifndef CLIENTS_VIEWER_SIDEBAR_ROW_LIST_H
#define CLIENTS_VIEWER_SIDEBAR_ROW_LIST_H

#include "wire/event_types.h"

#include <gtk/gtk.h>

struct view;

/* *list: the list itself, within the returned widget; nothing: a text for the empty list. */
GtkWidget *row_list_new(struct view *view, GtkWidget **list, const char *nothing);
void row_list_add(GtkWidget *list, const char *markup,
                  struct event_id at); /* at line 0: not a link */
void row_list_clear(GtkWidget *list);

#endif
