/* Overlays of the overview, with their key and tooltips: waits by class, the critical path
 * (overview_path.c) and a function.
 *
 * The waiting part of each pixel has the colors of rendezvous, contention, timeout and unattributed
 * waits, in proportion to their shares. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void overview_overlay_draw(struct view *view, cairo_t *cr, int height_px);
/* Returns the text of bands_view_describe, with wait classes and the path if they are drawn; the
 * caller frees it. */
char *overview_overlay_describe(struct view *view, double x_px, double y_px);
void overview_overlay_on_notification(struct view *view, enum notification what);
/* Returns whether some of it is requested, or about to be. */
bool overview_overlay_is_busy(struct view *view);
/* Forgets everything, for another run. */
void overview_overlay_clear(struct view *view);
/* Prints rows, pixels and shares, for tests. */
void overview_overlay_print(struct view *view, FILE *f);

/* ---- overview path ---- */

void overview_path_draw(struct view *view, cairo_t *cr, int height_px);
void overview_path_on_notification(struct view *view, enum notification what);
void overview_path_clear(struct view *view); /* another run */
bool overview_path_is_busy(struct view *view); /* whether it is requested, or about to be */
/* whether it is requested, and nothing has arrived yet */
bool overview_path_is_running(struct view *view);
/* Returns the share of the path in a pixel of a row; 0: none. */
double overview_path_share(struct view *view, uint32_t row, double share_of_width);
double overview_path_hidden_share(struct view *view); /* its share on rows that are not shown */
void overview_path_print(struct view *view, FILE *f); /* rows, pixels and transitions; for tests */

#endif
