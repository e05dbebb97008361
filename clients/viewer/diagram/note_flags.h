/* Flags of notes where marks are not drawn: in the map and from far away. */
#ifndef CLIENTS_VIEWER_DIAGRAM_NOTE_FLAGS_H
#define CLIENTS_VIEWER_DIAGRAM_NOTE_FLAGS_H

#include <cairo.h>
#include <stdbool.h>

struct view;

/* What is seen: between two positions of the log, or two times. */
struct note_flags_range {
    bool by_time;
    double from, to;
};

/* Across pixels x_px to x_px + width_px, which stand for that. */
void note_flags_draw(struct view *view, cairo_t *cr, const struct note_flags_range *span,
                     double x_px, double width_px);

#endif
