/* Texts around a diagram: title, caption, legend, footnotes and user notes. */
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
void legend_build_caption(struct builder *b); /* legend and caption; sets the height */
/* Adds flags at events with user notes, and the notes below the diagram. */
void note_marks_build(struct builder *b); /* call when everything else is placed */

#endif
