/* The list of all events in the order of the log, or of all search hits. Only the visible part is
 * fetched, a page at a time. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H

#include <gtk/gtk.h>
#include <stdint.h>

struct event_list;
struct view;

/* Returns a new list, which lives as long as the window; *widget: what is to be displayed. */
struct event_list *event_list_new(struct view *view, GtkWidget **widget);
/* Adapts the list to the log, which has grown, or to other hits. */
void event_list_update_count(struct event_list *events);
/* Selects the row of a position. */
void event_list_show(struct event_list *events, uint64_t position);
/* Selects the selected event in the list. */
void event_list_select(struct event_list *events);
/* Empties the list for another run. */
void event_list_clear(struct event_list *events);

#endif
