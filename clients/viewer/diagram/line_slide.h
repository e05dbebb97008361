/* Scrolling one line; the others move only as far as the order requires. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LINE_SLIDE_H
#define CLIENTS_VIEWER_DIAGRAM_LINE_SLIDE_H

#include <stdint.h>

struct view;

void line_slide_shift(struct view *view, uint32_t line, int events);

#endif
