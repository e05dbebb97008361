/* What the states of threads look like, in charts and wherever else they are drawn: colours, and
 * hatches where there are none. */
#ifndef RENDER_STYLE_H
#define RENDER_STYLE_H

#include <cairo.h>
#include <stdbool.h>

/* Fills the path with an enum chart_state; a hatched one's box is crossed by lines, which go on in
 * the next box. */
void style_fill(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);
/* The same of an overview, where all work looks alike. */
void style_fill_work(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);

#endif
