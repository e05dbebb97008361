/* How many events there are in each pixel of each row: asked for, and painted.  For far.c and
 * map.c. */
#ifndef CLIENTS_VIEW_PICTURE_DENSITY_H
#define CLIENTS_VIEW_PICTURE_DENSITY_H

#include "clients/book/book.h"
#include "clients/view/parts/inquiry.h"
#include "wire/asked.h"
#include "wire/placed.h"
#include "wire/shown.h"

#include <cairo.h>

struct view;

/* False: none is in this part. */
bool density_read(const struct answer *answer, struct shown_density *density);
/* Of which lines; the caller frees rows and joined, or density_ask does.  False: there are none
 * yet. */
bool density_rows(struct view *view, struct window_request *rows);
/* Asks for a density of these rows, which it frees. */
void density_ask(struct view *view, struct inquiry *inquiry, struct density_request *request,
                 struct window_request *rows, source_take *take);
/* Where in it a position, or a time, is: from 0 to 1, less or more outside. */
double density_share(const struct shown_density *density, double at);
struct target_colour density_colour(const struct book *book, uint32_t line);
/* One row as a strip, a pixel of an image for each of the density. */
void density_paint(cairo_t *cr, const struct shown_density *density, uint32_t row,
                   struct target_colour colour, bool dark, double x_px, double y_px,
                   double width_px, double height_px);

#endif
