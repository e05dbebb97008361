/* The critical path from far away, over the strips: a thick line along the row of the thread that it is on, as high as its
 * share where a pixel has several; and from row to row where one let another go on, a veil where that is too often to be told
 * apart. */
#ifndef CLIENTS_VIEW_PICTURE_TRAIL_H
#define CLIENTS_VIEW_PICTURE_TRAIL_H

#include "clients/view/parts/news.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void trail_draw(struct view *view, cairo_t *cr, int height_px);
void trail_take(struct view *view, enum news news);
void trail_clear(struct view *view); /* another run */
bool trail_busy(struct view *view); /* is it asked for, or about to be? */
bool trail_runs(struct view *view); /* is it asked for, and nothing here yet? */
/* Share of a pixel of a row that the path is on; 0 none. */
double trail_share(struct view *view, uint32_t row, double share_of_width);
double trail_hidden(struct view *view); /* the share of it that is on rows that are not there */
void trail_print(struct view *view, FILE *f); /* rows, pixels and hops; for tests */

#endif
