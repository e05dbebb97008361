/* Shapes and lines that are painted together: one path for all of one colour and size, which a
 * vector file is written, and read, many times as fast with as with a path for each.
 *
 * Larger shapes lie below smaller ones, arrow heads above lines; else nobody may care which is
 * above which. */
#ifndef RENDER_BATCHED_PATHS_H
#define RENDER_BATCHED_PATHS_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* Zero-initialised: empty. */
struct batched_paths {
    struct batch_item *items;
    size_t count, room;
};

/* Each in the colour that is the source of `cr` now. */
void batched_paths_circle(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double radius);
void batched_paths_square(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double half);
void batched_paths_line(struct batched_paths *batch, cairo_t *cr, double x0, double y0, double x1,
                        double y1, double width, double dash, double pause); /* dash 0: solid */
/* A triangle with its point at x, y, on a line that came along the unit vector dx, dy. */
void batched_paths_head(struct batched_paths *batch, cairo_t *cr, double x, double y, double dx,
                        double dy, double length);
/* Paints all, and empties it; the source, dashes, line width and cap of `cr` are others then. */
void batched_paths_paint(struct batched_paths *batch, cairo_t *cr);
void batched_paths_free(struct batched_paths *batch);

#endif
