/* Details of an event in its panel: heading, a grid of fields, and source. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_DETAILS_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_DETAILS_H

#include "clients/viewer/sidebar/event_placement.h"

#include <gtk/gtk.h>

struct view;

struct event_details {
    struct view *view;
    GtkWidget *head, *grid, *source; /* two labels, and what is between them */
    GtkWidget *(*label)(struct view *view); /* creates a label that may contain links */
    struct event_placement ran; /* where its thread ran */
    int rows; /* of the grid */
};

void event_details_fill(struct event_details *described, const struct event_info *event);
void event_details_clear(struct event_details *described);

#endif
