/* Painting state bands, the overview of a run: each pixel of a row is filled by the states of its
 * line, in proportion to their shares.
 *
 * x and y count from the top left corner; names are left of the pixels, a ruler is above them. */
#ifndef RENDER_STATE_BAND_PAINT_H
#define RENDER_STATE_BAND_PAINT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/state_bands.h"

#include <cairo.h>

struct state_band_style {
    double names_pt, width_pt; /* of the names, and of the pixels right of them */
    double row_pt; /* distance of rows */
    bool dark, grey;
    uint8_t measured; /* an enum band_measurement: which states the key has */
    uint8_t objects; /* which kinds of objects the key is about: state_band_key.h */
    const char *name; /* of the row; NULL: the label of its line */
    /* A row is painted as an image with this many pixels per point, which is many times faster on a
     * screen; 0: as shapes, for files. */
    double pixels_per_pt;
};

#define STRIP_RULER_PT 18.0

/* Returns the area of the pixels of a row; y_pt: its top. */
cairo_rectangle_t state_band_row_box(double y_pt, const struct state_band_style *look);
/* Paints one row with its name; y_pt: its top. */
void state_band_paint_row(cairo_t *cr, const struct state_bands *strip,
                          const struct trace_metadata *book, uint32_t row, double y_pt,
                          const struct state_band_style *look);
/* Paints the measured states in place of what is otherwise one: which part of its running time a
 * thread was off-CPU or runnable. measured: the cells of its row, of as many pixels. */
void state_band_paint_measured(cairo_t *cr, const struct state_band_cell *cells,
                               const struct state_band_cell *measured, uint32_t pixels, double y_pt,
                               const struct state_band_style *look);
void state_band_paint_ruler(cairo_t *cr, const struct state_bands *strip, double y_pt,
                            const struct state_band_style *look);
/* Computes round times, or numbers of events, for a ruler of this width; the caller frees them;
 * NULL if there is no space. */
struct state_band_tick {
    double share; /* of the width */
    char text[40];
};
struct state_band_tick *state_band_ticks(const struct state_bands *strip, double width_pt,
                                         uint32_t *count);

#endif
