/* The scroll bar of rows. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ROW_SCROLLBAR_H
#define CLIENTS_VIEWER_DIAGRAM_ROW_SCROLLBAR_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

struct row_scrollbar {
    GtkWidget *grid, *widget; /* grid: canvas and bar */
    GtkAdjustment *at;
    guint orienting;
    bool moving; /* we are setting it */
};

GtkWidget *row_scrollbar_new(struct view *view);
void row_scrollbar_update(struct view *view);              /* after a change of the diagram */
void row_scrollbar_scroll_to(struct view *view, double rise_pt); /* as if it was dragged there */
void row_scrollbar_stop(struct view *view);               /* before the window is destroyed */

#endif
