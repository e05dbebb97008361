/* The critical path as one thick line over the picture: along the rows of its threads, and from row
 * to row where one let another go on. */
#ifndef CLIENTS_VIEWER_DIAGRAM_PATH_OVERLAY_H
#define CLIENTS_VIEWER_DIAGRAM_PATH_OVERLAY_H

#include "clients/viewer/state/notifications.h"
#include "wire/table_cell.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Sets it; opaque: 0 to 1. */
void path_overlay_set_color(struct view *view, cairo_t *cr, double opaque);
void path_overlay_draw(struct view *view, cairo_t *cr, int width, int height);
double path_overlay_key_px(void); /* how wide the key is */
void path_overlay_on_notification(struct view *view, enum notification news);
bool path_overlay_is_busy(struct view *view); /* is what is seen of it not here yet? */
void path_overlay_clear(struct view *view); /* another run */
/* The events with which pieces end that are this step of the path are marked, once they are
 * known. */
void path_overlay_mark_step(struct view *view, const struct table_cell *step);
void path_overlay_print(struct view *view, FILE *f); /* pieces and hops that are drawn; for tests */

#endif
