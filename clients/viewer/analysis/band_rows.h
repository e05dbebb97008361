/* State bands of threads below the diagram: a band for each row that is a thread, on the same axis.
 *
 * They come from the table of state intervals of the visible rows, so that each interval can be
 * pointed at (zoomed out: overview_states.h). A pixel is filled by the states of its thread in that
 * time, in proportion to their shares: short states remain visible, and two threads never seem to
 * run simultaneously. */
#ifndef CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H
#define CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

void band_rows_draw(struct view *view, cairo_t *cr, int width);
bool band_rows_are_shown(const struct view *view); /* whether the diagram is placed by time */
bool band_rows_are_busy(const struct view *view); /* whether they are requested, or about to be */
GtkWidget *band_rows_widget(struct view *view);
void band_rows_on_notification(struct view *view, enum notification what);
void band_rows_clear(struct view *view); /* another run */
/* Prints "row 3 T:main runnable 0.010 running 0.200 ...": shares of the width by state; for
 * tests. */
void band_rows_print(struct view *view, FILE *f);

#endif
