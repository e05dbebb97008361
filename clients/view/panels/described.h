/* What the page of an event says of the event itself: its head, a grid of fields, and its source. */
#ifndef CLIENTS_VIEW_PANELS_DESCRIBED_H
#define CLIENTS_VIEW_PANELS_DESCRIBED_H

#include "clients/view/panels/ran.h"

#include <gtk/gtk.h>

struct view;

struct described {
    struct view *view;
    GtkWidget *head, *grid, *source; /* two labels, and what stands between them */
    GtkWidget *(*label)(struct view *view); /* makes one that may have links in it */
    struct ran ran; /* where its thread was */
    int rows; /* of the grid */
};

void described_fill(struct described *described, const struct shown_event *event);
void described_empty(struct described *described);

#endif
