/* The list of all events in the order of the log, or of all hits of a search.  Only what is seen
 * of it is fetched, a page at a time. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_LIST_H

#include <gtk/gtk.h>

struct view;

struct event_list;

/* *widget: to be shown.  Lives as long as the window. */
struct event_list *event_list_new(struct view *view, GtkWidget **widget);
void event_list_update_count(
    struct event_list *events); /* the log has grown, or there are other hits */
void event_list_show(struct event_list *events, uint64_t position); /* selects that row */
void event_list_select(struct event_list *events); /* the selected event, in the list */
void event_list_clear(struct event_list *events); /* another run */

#endif
