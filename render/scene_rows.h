/* The rows of a scene, and how each is called. */
#ifndef RENDER_SCENE_ROWS_H
#define RENDER_SCENE_ROWS_H

#include "render/scene_builder.h"

void scene_rows_build(struct builder *b); /* and where the columns begin */
/* Bytes of a label without the address behind the name. */
int scene_rows_name_bytes(const char *label);

#endif
