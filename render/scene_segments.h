/* The line segments of a scene: what happens in each row between its marks. */
#ifndef RENDER_SCENE_SEGMENTS_H
#define RENDER_SCENE_SEGMENTS_H

#include "render/scene_builder.h"

/* Marks are sorted by row and x. Rows of threads whose kind requests it show where the thread is
 * while it is on another line. */
void scene_segments_build(struct builder *b);
/* Returns whether the row of this thread shows what it waits for elsewhere. */
bool scene_segments_shows_text(const struct builder *b, uint32_t thread);

#endif
