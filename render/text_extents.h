/* Text sizes, and rows of lines, while a scene is built. */
#ifndef RENDER_TEXT_EXTENTS_H
#define RENDER_TEXT_EXTENTS_H

#include "render/scene_builder.h"

double text_extents_width(const struct builder *b, const char *text, double size, bool bold);
/* Returns a copy of the text, cut to fit with an ellipsis. */
char *text_extents_fit(const struct builder *b, const char *text, double size, double limit);
int32_t text_extents_row(const struct builder *b, uint32_t line); /* -1: not shown */

#endif
