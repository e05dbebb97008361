/* Shapes and lines that are painted together: one path for all of one colour and size, which a vector file is written, and
 * read, many times as fast with as with a path for each.
 *
 * Larger shapes lie below smaller ones, arrow heads above lines; else nobody may care which is above which. */
#ifndef RENDER_BATCH_H
#define RENDER_BATCH_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised: empty. */
struct batch {
    struct batch_item *items;
    size_t count, room;
};

/* Each in the colour that is the source of `cr` now. */
void batch_circle(struct batch *batch, cairo_t *cr, double x, double y, double radius);
void batch_square(struct batch *batch, cairo_t *cr, double x, double y, double half);
void batch_line(struct batch *batch, cairo_t *cr, double x0, double y0, double x1, double y1,
                double width, double dash, double pause); /* dash 0: solid */
/* A triangle with its point at x, y, on a line that came along the unit vector dx, dy. */
void batch_head(struct batch *batch, cairo_t *cr, double x, double y, double dx, double dy,
                double length);
/* Paints all, and empties it; the source, dashes, line width and cap of `cr` are others then. */
void batch_paint(struct batch *batch, cairo_t *cr);
void batch_free(struct batch *batch);

#endif
