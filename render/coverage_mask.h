/* A mask of rectangles: how much of each pixel they cover.  Painting it takes the same time however
 * many rectangles there are, and however they overlap; a path of thousands of rectangles takes many
 * times longer. */
#ifndef RENDER_COVERAGE_MASK_H
#define RENDER_COVERAGE_MASK_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>

struct coverage_mask {
    cairo_surface_t *surface;
    uint8_t *bytes; /* a pixel each; NULL: there is no memory, and nothing is painted */
    int stride, width, height;
    double x, y, scale; /* its corner, and pixels per unit */
};

/* Makes an empty mask of an area, with so many pixels per unit. */
struct coverage_mask coverage_mask_new(cairo_rectangle_t area, double scale);
/* Adds a rectangle.  A pixel that several rectangles cover is covered once; the parts of it that
 * they cover are added up. */
void coverage_mask_add(struct coverage_mask *mask, cairo_rectangle_t box);
/* Paints the current source through the mask, unless cr is NULL, and frees the mask. */
void coverage_mask_paint(struct coverage_mask *mask, cairo_t *cr);

#endif
