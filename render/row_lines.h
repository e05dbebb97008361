/* Painting what is between marks: the lines of rows, arrows, breaks. */
#ifndef RENDER_ROW_LINES_H
#define RENDER_ROW_LINES_H

#include "render/painter.h"

void row_line_segment(const struct painter *painter, const struct scene_segment *segment);
void row_line_link(const struct painter *painter, const struct scene_link *link);
void row_line_gap(const struct painter *painter, const struct scene_gap *gap);
/* Returns the color of a line; paler if the line shows that its thread is on another one. */
struct target_color row_line_color(enum scene_style style, struct target_color color);
/* sets dashes and width */
void row_line_style(const struct painter *painter, enum scene_style style);

#endif
