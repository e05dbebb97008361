/* Scrolling of the diagram or of one line, the scroll bar of rows, and following the run as it
 * grows. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SCROLLING_H
#define CLIENTS_VIEWER_DIAGRAM_SCROLLING_H

#include "clients/viewer/state/notifications.h"

#include <glib.h>
#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>

struct view;

struct scrolling {
    guint reselect; /* timer: the selected event is no longer visible */
};

void scroll_pan(struct view *view, double x_px, double y_px);
void scroll_page(struct view *view, int pages);
/* Scrolls to the begin of the run. */
void scroll_start(struct view *view);
void scroll_follow(struct view *view, bool follow);
/* Scrolls to the nearest possible left edge. */
void scroll_to(struct view *view, double left_pt);
/* Slides one line; the others move only as far as the order requires. */
void scroll_line(struct view *view, uint32_t line, int events);
/* Cancels pending scrolling. */
void scroll_stop(struct view *view);
/* Cancels it when an earlier view state is restored. */
void scroll_on_restored(struct view *view, enum notification what);

/* ---- row scrollbar ---- */

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
