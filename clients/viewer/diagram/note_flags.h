/* Note flags where marks are not drawn: in the overview map and in the zoomed-out view. */
#ifndef CLIENTS_VIEWER_DIAGRAM_NOTE_FLAGS_H
#define CLIENTS_VIEWER_DIAGRAM_NOTE_FLAGS_H

#include <cairo.h>
#include <stdbool.h>

struct view;

/* The visible part: between two positions of the log, or two times. */
struct note_flags_range {
    bool by_time;
    double from, to;
};

/* Draws them across pixels x_px to x_px + width_px, which show that part. */
void note_flags_draw(struct view *view, cairo_t *cr, const struct note_flags_range *span,
                     double x_px, double width_px);

#endif
