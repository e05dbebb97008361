/* Painting what lies between marks: the lines of rows, arrows, breaks. */
#ifndef RENDER_ROW_LINES_H
#define RENDER_ROW_LINES_H

#include "render/painter.h"

void row_line_segment(const struct painter *painter, const struct scene_segment *segment);
void row_line_link(const struct painter *painter, const struct scene_link *link);
void row_line_gap(const struct painter *painter, const struct scene_gap *gap);
/* Of a line that says that its thread is on another one there is less to see. */
struct target_color row_line_colour(enum scene_style style, struct target_color colour);
void row_line_style(const struct painter *painter, enum scene_style style); /* dashes and width */

#endif
