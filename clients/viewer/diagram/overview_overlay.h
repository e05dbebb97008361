/* What lies over the strips of a run from far away: waiting by kind (wait_kinds.h) and the critical
 * path (overview_path.h), with their key, and what is said of a place. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_OVERLAY_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

void overview_overlay_draw(struct view *view, cairo_t *cr, int height_px);
/* As bands_view_describe, with the kinds of waits and the path where they are drawn; the
 * caller's. */
char *overview_overlay_describe(struct view *view, double x_px, double y_px);
void overview_overlay_on_notification(struct view *view, enum notification news);
bool overview_overlay_is_busy(struct view *view); /* is some of it asked for, or about to be? */
void overview_overlay_clear(struct view *view); /* another run */
void overview_overlay_print(struct view *view, FILE *f); /* for tests */

#endif
