/* What threads did, below the picture: a band for each of its rows that is a thread, on the same
 * axis.
 *
 * They come from the list of spells of the rows that there are, so that each can be pointed at
 * (from far away: overview_states.h). A pixel is filled by what its thread did in that time, as
 * high as the share: a short state is thin, never lost, and two threads never seem to run at
 * once. */
#ifndef CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H
#define CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

void band_rows_draw(struct view *view, cairo_t *cr, int width);
bool band_rows_are_shown(const struct view *view); /* is the picture placed by time? */
bool band_rows_are_busy(const struct view *view); /* are they asked for, or about to be? */
GtkWidget *band_rows_widget(struct view *view);
void band_rows_on_notification(struct view *view, enum notification news);
void band_rows_clear(struct view *view); /* another run */
/* "row 3 T:main runnable 0.010 running 0.200 ..." shares of the width by states; for tests. */
void band_rows_print(struct view *view, FILE *f);

#endif
