/* Words around the picture. */
#ifndef RENDER_LEGEND_H
#define RENDER_LEGEND_H

#include "render/scene_builder.h"

/* A line of words; its width. */
double legend_build_note(struct builder *b, double x, double y, const char *text, double size,
                         bool bold);
/* Below all that is there by now, in lines as wide as the drawing or the legend may be; whole: in
 * one line. */
void legend_build_words(struct builder *b, const char *text, double size, bool whole);
void legend_build_caption(struct builder *b); /* legend and caption; sets the height */

#endif
