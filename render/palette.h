/* Palette of thread states: the one set of colors of diagrams, bands, charts and tables, on light
 * and dark backgrounds, and of grays and hatches for print without color.
 *
 * Running, runnable, blocked and off-CPU differ by at least 40 in CIELAB, also as protanopes,
 * deuteranopes and tritanopes see them (model of Machado, Oliveira and Fernandes, 2009); their
 * grays differ by about 25 in L*. */
#ifndef RENDER_PALETTE_H
#define RENDER_PALETTE_H

#include "config/target.h"
#include "render/state_chart.h"

#include <cairo.h>
#include <stdbool.h>

/* States besides those of enum thread_state_code: */
enum {
    PALETTE_INSIDE =
        THREAD_STATES_DRAWN, /* running inside an object, such as the holder of a mutex */
    PALETTE_STATES
};

struct target_color palette_color(unsigned state, bool grey);

bool palette_is_hatched(unsigned state, bool grey);
/* Fills the path in the style of a state; the lines of a hatched box continue in the next box. */
void palette_fill(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);
/* Fills the path in the style of a state of an overview, in which all work looks alike. */
void palette_fill_work(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box);

#endif
