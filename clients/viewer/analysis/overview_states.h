/* From far away what threads did stands below the strips: a band for each of their rows that is of
 * threads, of the same pixels, each filled by states as high as their shares. */
#ifndef CLIENTS_VIEWER_ANALYSIS_OVERVIEW_STATES_H
#define CLIENTS_VIEWER_ANALYSIS_OVERVIEW_STATES_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

bool overview_states_are_shown(const struct view *view); /* is the picture one of strips? */
GtkWidget *overview_states_widget(struct view *view);
void overview_states_on_notification(struct view *view, enum notification news);
void overview_states_draw(struct view *view, cairo_t *cr, int width_px);
/* "row 3 T:main created 0.0 runnable 0.1 ...": pixels by state, as band_rows.h has them; for tests. */
void overview_states_print(struct view *view, FILE *f);

#endif
