/* A run from far away as strips: each pixel of a row is filled by what its line did there, as high
 * as its share. */
#ifndef CLIENTS_VIEWER_DIAGRAM_STATE_BANDS_VIEW_H
#define CLIENTS_VIEWER_DIAGRAM_STATE_BANDS_VIEW_H

#include "wire/state_bands.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

#define BANDS_VIEW_RULER_PX 18.0 /* above the rows */

/* The strips that are here, with names, ruler and key. */
void bands_view_draw(struct view *view, cairo_t *cr, int height_px);
/* "T:main: waits 62 %, is in M:lock 30 %", of a place; the caller's; NULL: there is nothing. */
char *bands_view_describe(struct view *view, double x_px, double y_px);
/* The same of whole rows, and the ticks of the ruler, a line each; for tests. */
void bands_view_print(struct view *view, FILE *f);

double bands_view_y_px(const struct view *view, uint32_t row); /* of its middle */
double bands_view_bottom_px(const struct view *view,
                            int height_px); /* rows end there, above the key */
/* Is some of the row on the canvas?  What scrolls is hidden by what is pinned. */
bool bands_view_is_visible(const struct view *view, uint32_t row, int height_px);
/* What pixels of a row fill. */
cairo_rectangle_t bands_view_row_box(struct view *view, uint32_t row);
uint32_t bands_view_row_at(const struct view *view, double y_px); /* row_count of the strip: none */

#endif
