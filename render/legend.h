/* Texts around a diagram: title, caption, legend and footnotes. */
#ifndef RENDER_LEGEND_H
#define RENDER_LEGEND_H

#include "render/scene_builder.h"

/* The words of the legend; the viewer's tooltips and web pages have the same. */
extern const char *const legend_style_words[STYLE_END + 1];
extern const char *const legend_arrow_words[ARROW_MIGRATE + 1];
extern const char *const legend_relation_words[ORDER_UNKNOWN + 1]; /* to the selected event */
extern const char *const legend_relation_verbs[ORDER_UNKNOWN + 1]; /* between two events */
extern const char legend_deadlock_words[];

/* Adds a line of text. Returns its width. */
double legend_build_note(struct builder *b, double x, double y, const char *text, double size,
                         bool bold);
/* Adds text below everything so far, in lines as wide as the drawing or the legend; whole: in one
 * line. */
void legend_build_words(struct builder *b, const char *text, double size, bool whole);
void legend_build_caption(struct builder *b); /* legend and caption; sets the height */

#endif
