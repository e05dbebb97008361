/* Painting the states of a thread as a row of pixels: each pixel is filled by states in proportion
 * to their shares, as shapes or as an image. */
#ifndef RENDER_STATE_ROW_PAINT_H
#define RENDER_STATE_ROW_PAINT_H

#include "wire/thread_state_names.h"

#include <cairo.h>
#include <stdbool.h>

struct state_row_style {
    bool grey;
    /* A row is painted as an image with this many pixels per unit, which is many times faster where
     * most pixels are different; 0: as shapes. */
    double scale;
};

/* Paints the states of `count` pixels, which divide the box evenly, one above the other, in
 * proportion to their shares, THREAD_STATES_DRAWN for each; each that occurs is at least one pixel
 * high.  The rest stays empty. */
void state_row_paint(cairo_t *cr, const float *shares, int count, cairo_rectangle_t box,
                     struct state_row_style style);

#endif
