/* A list whose rows lead to events. */
#ifndef CLIENTS_VIEW_PANELS_LIST_H
#define CLIENTS_VIEW_PANELS_LIST_H

#include "wire/event.h"

#include <gtk/gtk.h>

struct view;

/* *list: the list itself, within what is returned; nothing: what is said while it is empty. */
GtkWidget *list_new(struct view *view, GtkWidget **list, const char *nothing);
void list_add(GtkWidget *list, const char *markup, struct ref at); /* at line 0: it leads nowhere */
void list_empty(GtkWidget *list);

#endif
