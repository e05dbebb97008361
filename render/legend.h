/* Texts around a diagram: title, caption, legend and footnotes. */
#ifndef RENDER_LEGEND_H
#define RENDER_LEGEND_H

#include "render/scene_builder.h"

/* Adds a line of text. Returns its width. */
double legend_build_note(struct builder *b, double x, double y, const char *text, double size,
                         bool bold);
/* Adds text below everything so far, in lines as wide as the drawing or the legend; whole: in one
 * line. */
void legend_build_words(struct builder *b, const char *text, double size, bool whole);
void legend_build_caption(struct builder *b); /* legend and caption; sets the height */

#endif
