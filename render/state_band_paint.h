/* Painting a run from far away: each pixel of a row is filled by what its line did there, as high
 * as its share.
 *
 * x and y count from the top left corner; names stand left of the pixels, a ruler above them. */
#ifndef RENDER_STATE_BAND_PAINT_H
#define RENDER_STATE_BAND_PAINT_H

#include "clients/metadata/trace_metadata.h"
#include "wire/state_bands.h"

#include <cairo.h>

struct state_band_style {
    double names_pt, width_pt; /* of the names, of the pixels right of them */
    double row_pt; /* from row to row */
    bool dark, grey;
    const char *name; /* of the row, NULL: as the book calls its line */
};

#define STRIP_RULER_PT 18.0
#define STRIP_KEY_PT 20.0

const char *state_band_name(unsigned state); /* an enum band_state: "waits" */
/* What the pixels of a row fill; y_pt: its top. */
cairo_rectangle_t state_band_row_box(double y_pt, const struct state_band_style *look);
/* One row with its name; y_pt: its top. */
void state_band_paint_row(cairo_t *cr, const struct state_bands *strip,
                          const struct trace_metadata *book, uint32_t row, double y_pt,
                          const struct state_band_style *look);
void state_band_paint_ruler(cairo_t *cr, const struct state_bands *strip, double y_pt,
                            const struct state_band_style *look);
/* What the colours stand for, in a line. */
void state_band_paint_key(cairo_t *cr, double y_pt, const struct state_band_style *look);

/* Round times, or numbers of events, for a ruler that is so wide; the caller's to free, NULL: there
 * is no room. */
struct state_band_tick {
    double share; /* of the width */
    char text[40];
};
struct state_band_tick *state_band_ticks(const struct state_bands *strip, double width_pt,
                                         uint32_t *count);

#endif
