/* The overview as state bands: each pixel of a row is filled by the states of its line, in
 * proportion to their shares. */
#ifndef CLIENTS_VIEWER_DIAGRAM_STATE_BANDS_VIEW_H
#define CLIENTS_VIEWER_DIAGRAM_STATE_BANDS_VIEW_H

#include "wire/state_bands.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct view;

#define BANDS_VIEW_RULER_PX 18.0 /* above the rows */

/* Draws the state bands, with names, ruler and key. */
void bands_view_draw(struct view *view, cairo_t *cr, int height_px);
/* Returns "T:main: waits 62 %, is in M:lock 30 %" for a point; the caller frees it; NULL: empty. */
char *bands_view_describe(struct view *view, double x_px, double y_px);
/* Prints the same for whole rows, and the ticks of the ruler; for tests. */
void bands_view_print(struct view *view, FILE *f);

double bands_view_y_px(const struct view *view, uint32_t row); /* of its middle */
double bands_view_key_px(struct view *view); /* height of the key, at the bottom */
double bands_view_bottom_px(struct view *view, int height_px); /* end of the rows, above the key */
/* Returns whether part of the row is on the canvas and not covered by pinned rows. */
bool bands_view_is_visible(struct view *view, uint32_t row, int height_px);
/* Returns the area of the pixels of a row. */
cairo_rectangle_t bands_view_row_box(struct view *view, uint32_t row);
/* row_count of the state bands: none */
uint32_t bands_view_row_at(const struct view *view, double y_px);

#endif
