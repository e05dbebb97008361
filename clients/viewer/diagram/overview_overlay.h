/* Overlays of the overview: waits by class (wait_kinds.h) and the critical path (overview_path.h),
 * with their key, and tooltips. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

void overview_overlay_draw(struct view *view, cairo_t *cr, int height_px);
/* As bands_view_describe, with wait classes and the path if they are drawn; the caller frees it. */
char *overview_overlay_describe(struct view *view, double x_px, double y_px);
void overview_overlay_on_notification(struct view *view, enum notification what);
/* whether some of it is requested, or about to be */
bool overview_overlay_is_busy(struct view *view);
void overview_overlay_clear(struct view *view); /* another run */
void overview_overlay_print(struct view *view, FILE *f); /* for tests */

#endif
