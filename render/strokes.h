/* Painting what lies between marks: the lines of rows, arrows, breaks. */
#ifndef RENDER_STROKES_H
#define RENDER_STROKES_H

#include "render/painter.h"

void stroke_segment(const struct painter *painter, const struct scene_segment *segment);
void stroke_link(const struct painter *painter, const struct scene_link *link);
void stroke_gap(const struct painter *painter, const struct scene_gap *gap);
/* Of a line that says that its thread is on another one there is less to see. */
struct target_colour stroke_colour(enum scene_style style, struct target_colour colour);
void stroke_style(const struct painter *painter, enum scene_style style); /* dashes and width */

#endif
