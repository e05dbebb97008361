/* A run from far away as strips: each pixel of a row is filled by what its line did there, as high as its share. */
#ifndef CLIENTS_VIEW_PICTURE_STRIPS_H
#define CLIENTS_VIEW_PICTURE_STRIPS_H

#include "wire/strip.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

#define STRIPS_RULER_PX 18.0 /* above the rows */

/* The strips that are here, with names, ruler and key. */
void strips_draw(struct view *view, cairo_t *cr, int height_px);
/* "T:main: waits 62 %, is in M:lock 30 %", of a place; the caller's; NULL: there is nothing. */
char *strips_say(struct view *view, double x_px, double y_px);
/* The same of whole rows, and the ticks of the ruler, a line each; for tests. */
void strips_print(struct view *view, FILE *f);

double strips_y_px(const struct view *view, uint32_t row); /* of its middle */
double strips_bottom_px(const struct view *view, int height_px); /* rows end there, above the key */
/* Is some of the row on the canvas?  What scrolls is hidden by what is pinned. */
bool strips_seen(const struct view *view, uint32_t row, int height_px);
/* What pixels of a row fill. */
cairo_rectangle_t strips_box(struct view *view, uint32_t row);
uint32_t strips_row_at(const struct view *view, double y_px); /* row_count of the strip: none */

#endif
