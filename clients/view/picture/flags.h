/* Flags of notes where marks are not drawn: in the map and from far away. */
#ifndef CLIENTS_VIEW_PICTURE_FLAGS_H
#define CLIENTS_VIEW_PICTURE_FLAGS_H

#include <cairo.h>
#include <stdbool.h>

struct view;

/* What is seen: between two positions of the log, or two times. */
struct flags_span {
    bool by_time;
    double from, to;
};

/* Across pixels x_px to x_px + width_px, which stand for that. */
void flags_draw(struct view *view, cairo_t *cr, const struct flags_span *span, double x_px,
                double width_px);

#endif
