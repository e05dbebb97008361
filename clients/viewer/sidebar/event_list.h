/* The list of all events in the order of the log, or of all search hits. Only the visible part is
 * fetched, a page at a time. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H

#include <gtk/gtk.h>

struct view;

struct event_list;

/* *widget: to be displayed. Lives as long as the window. */
struct event_list *event_list_new(struct view *view, GtkWidget **widget);
void event_list_update_count(
    struct event_list *events); /* the log has grown, or the hits have changed */
void event_list_show(struct event_list *events, uint64_t position); /* selects that row */
void event_list_select(struct event_list *events); /* selects the selected event in the list */
void event_list_clear(struct event_list *events); /* another run */

#endif
