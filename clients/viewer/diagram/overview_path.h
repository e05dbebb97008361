/* The critical path in the overview: a thick line along the row of its thread, in proportion to its
 * share if a pixel has several; and between rows where one thread unblocked another, a translucent
 * area if there are too many to be distinguished. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_PATH_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_PATH_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

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
