/* The tab Thread States: time per state; as bands if the diagram is by time or zoomed out; beside
 * it the states of one thread. In the overview the bands are below the state bands: one for each
 * row of threads, with the same pixels, each filled by states in proportion to their shares. */
#ifndef CLIENTS_VIEWER_ANALYSIS_STATES_TAB_H
#define CLIENTS_VIEWER_ANALYSIS_STATES_TAB_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

bool overview_states_are_shown(const struct view *view); /* whether the diagram shows state bands */
/* Prints "row 3 T:main created 0.0 runnable 0.1 ...": pixels by state, as in band_rows.h; for
 * tests. */
void overview_states_print(struct view *view, FILE *f);

#endif
