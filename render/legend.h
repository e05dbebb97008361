/* Words around the picture. */
#ifndef RENDER_LEGEND_H
#define RENDER_LEGEND_H

#include "render/builder.h"

/* A line of words; its width. */
double build_note(struct builder *b, double x, double y, const char *text, double size, bool bold);
void build_end(struct builder *b); /* legend and caption; sets the height */

#endif
