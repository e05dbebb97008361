/* Painting a run from far away: each pixel of a row is filled by what its line did there, as high as its share.
 *
 * x and y count from the top left corner; names stand left of the pixels, a ruler above them. */
#ifndef RENDER_STRIP_H
#define RENDER_STRIP_H

#include "clients/book/book.h"
#include "wire/strip.h"

#include <cairo.h>

struct strip_look {
    double names_pt, width_pt; /* of the names, of the pixels right of them */
    double row_pt; /* from row to row */
    bool dark, grey;
    const char *name; /* of the row, NULL: as the book calls its line */
};

#define STRIP_RULER_PT 18.0
#define STRIP_KEY_PT 20.0

const char *strip_word(unsigned state); /* an enum strip_state: "waits" */
/* What the pixels of a row fill; y_pt: its top. */
cairo_rectangle_t strip_row_box(double y_pt, const struct strip_look *look);
/* One row with its name; y_pt: its top. */
void strip_paint_row(cairo_t *cr, const struct shown_strip *strip, const struct book *book,
                     uint32_t row, double y_pt, const struct strip_look *look);
void strip_paint_ruler(cairo_t *cr, const struct shown_strip *strip, double y_pt,
                       const struct strip_look *look);
/* What the colours stand for, in a line. */
void strip_paint_key(cairo_t *cr, double y_pt, const struct strip_look *look);

/* Round times, or numbers of events, for a ruler that is so wide; the caller's to free, NULL: there is no room. */
struct strip_tick {
    double share; /* of the width */
    char text[40];
};
struct strip_tick *strip_ticks(const struct shown_strip *strip, double width_pt, uint32_t *count);

#endif
