/* Layout of the columns of a scene. */
#ifndef RENDER_SCENE_COLUMNS_H
#define RENDER_SCENE_COLUMNS_H

#include "render/scene_builder.h"

/* Sorts the marks by column and row and assigns slots. */
void scene_columns_build_slots(struct laid_out_event *marks, uint32_t count,
                               struct extent *extents);
void scene_columns_build(struct builder *b, uint32_t count, const struct extent *extents);

#endif
