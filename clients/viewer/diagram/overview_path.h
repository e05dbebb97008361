/* The critical path from far away, over the strips: a thick line along the row of the thread that
 * it is on, as high as its share where a pixel has several; and from row to row where one let
 * another go on, a veil where that is too often to be told apart. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_PATH_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_PATH_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void overview_path_draw(struct view *view, cairo_t *cr, int height_px);
void overview_path_on_notification(struct view *view, enum notification news);
void overview_path_clear(struct view *view); /* another run */
bool overview_path_is_busy(struct view *view); /* is it asked for, or about to be? */
bool overview_path_is_running(struct view *view); /* is it asked for, and nothing here yet? */
/* Share of a pixel of a row that the path is on; 0 none. */
double overview_path_share(struct view *view, uint32_t row, double share_of_width);
double overview_path_hidden_share(
    struct view *view); /* the share of it that is on rows that are not there */
void overview_path_print(struct view *view, FILE *f); /* rows, pixels and hops; for tests */

#endif
