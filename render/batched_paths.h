/* Batched shapes and lines: one path for all shapes of one color and size, which makes a vector
 * file many times faster to write and to read than a path for each shape.
 *
 * Larger shapes are below smaller ones, arrow heads above lines; otherwise the stacking order is
 * unspecified. */
#ifndef RENDER_BATCHED_PATHS_H
#define RENDER_BATCHED_PATHS_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

/* A zeroed one is empty. */
struct batched_paths {
    struct batch_item *items;
    size_t count, room;
};

/* Each adds a shape in the current source color of `cr`. */
void batched_paths_circle(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double radius);
void batched_paths_square(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double half);
void batched_paths_line(struct batched_paths *batch, cairo_t *cr, double x0, double y0, double x1,
                        double y1, double width, double dash, double pause); /* dash 0: solid */
/* A triangle with its tip at x, y, at the end of a line in the direction of the unit vector dx,
 * dy. */
void batched_paths_head(struct batched_paths *batch, cairo_t *cr, double x, double y, double dx,
                        double dy, double length);
/* Paints everything and empties the batch; changes the source, dashes, line width and cap of
 * `cr`. */
void batched_paths_paint(struct batched_paths *batch, cairo_t *cr);
void batched_paths_free(struct batched_paths *batch);

#endif
