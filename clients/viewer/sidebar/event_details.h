/* Details of an event in its panel: heading, a grid of fields, and source. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_DETAILS_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_DETAILS_H

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/trace_view.h"

#include <gtk/gtk.h>

struct view;

/* The place at which the event's thread ran when it made the event: a worker thread or cluster of
 * its runtime, or a processor. */
struct event_placement {
    struct table_model spells; /* state intervals of the thread around the time of the event */
    struct event_id of; /* the requested event; line 0: none */
};

/* Zeroed except `view`, the widgets, `label` and `changed`: empty. */
struct event_details {
    struct view *view;
    GtkWidget *head, *grid, *source; /* two labels, and what is between them */
    GtkWidget *(*label)(struct view *view); /* creates a label that may contain links */
    void (*changed)(struct view *view); /* the placement may be known now: fill in again */
    struct event_placement ran;
    int rows; /* of the grid */
};

void event_details_fill(struct event_details *described, const struct event_info *event);
/* Empties the fields; what was requested stays. */
void event_details_clear(struct event_details *described);
/* Forgets what was requested: for another run, and before the end. */
void event_details_forget(struct event_details *described);
/* Appends the event's name as a link to it, and its line, as markup. */
void event_details_append_link(GString *s, const struct trace_metadata *book, struct event_id at);

#endif
