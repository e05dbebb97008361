/* The list of all events in the order of the log, or of all hits of a search.  Only what is seen
 * of it is fetched, a page at a time. */
#ifndef CLIENTS_VIEW_PANELS_EVENTS_H
#define CLIENTS_VIEW_PANELS_EVENTS_H

#include <gtk/gtk.h>

struct view;

struct events;

/* *widget: to be shown.  Lives as long as the window. */
struct events *events_new(struct view *view, GtkWidget **widget);
void events_count(struct events *events); /* the log has grown, or there are other hits */
void events_show(struct events *events, uint64_t position); /* selects that row */
void events_select(struct events *events); /* the selected event, in the list */
void events_clear(struct events *events); /* another run */

#endif
