/* Styles of thread states, in charts and wherever else they are drawn: colors, or hatches without
 * color. */
#ifndef RENDER_STYLE_H
#define RENDER_STYLE_H

#include <cairo.h>
#include <stdbool.h>

/* Fills the path in the style of an enum chart_state; the lines of a hatched box continue in the
 * next box. */
void style_fill(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);
/* The same for an overview, in which all work looks alike. */
void style_fill_work(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);

#endif
