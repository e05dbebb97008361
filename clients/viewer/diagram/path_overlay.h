/* The critical path as a thick line over the diagram: along the rows of its threads, and between
 * rows where one thread unblocked another. */
#ifndef CLIENTS_VIEWER_DIAGRAM_PATH_OVERLAY_H
#define CLIENTS_VIEWER_DIAGRAM_PATH_OVERLAY_H

#include "clients/viewer/state/notifications.h"
#include "wire/table_rows.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Sets its color; opaque: 0 to 1. */
void path_overlay_set_color(struct view *view, cairo_t *cr, double opaque);
void path_overlay_draw(struct view *view, cairo_t *cr, int width, int height);
double path_overlay_key_px(void); /* width of its key */
void path_overlay_on_notification(struct view *view, enum notification what);
bool path_overlay_is_busy(struct view *view); /* whether visible parts of it are still missing */
void path_overlay_clear(struct view *view); /* another run */
/* Marks the events that end pieces of this code segment of the path, once they are known. */
void path_overlay_mark_step(struct view *view, const struct table_cell *step);
void path_overlay_print(struct view *view, FILE *f); /* visible pieces and transitions; for tests */

#endif
