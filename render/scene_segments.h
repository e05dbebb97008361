/* The lines of a scene: what goes on in each row between its marks. */
#ifndef RENDER_SCENE_SEGMENTS_H
#define RENDER_SCENE_SEGMENTS_H

#include "render/scene_builder.h"

/* Marks are sorted by row and x.  Rows of threads whose kind asks for it show where the thread is
 * while it is on another line. */
void scene_segments_build(struct builder *b);
/* Does the row of this thread say what it waits for elsewhere? */
bool scene_segments_shows_text(const struct builder *b, uint32_t thread);

#endif
