/* Layout of the rows of a scene, and their labels. */
#ifndef RENDER_SCENE_ROWS_H
#define RENDER_SCENE_ROWS_H

#include "render/scene_builder.h"

void scene_rows_build(struct builder *b); /* also sets where the columns begin */
/* Returns the length in bytes of a label without the address after the name. */
int scene_rows_name_bytes(const char *label);

#endif
