/* Arrows between the marks of a scene. */
#ifndef RENDER_SCENE_ARROWS_H
#define RENDER_SCENE_ARROWS_H

#include "render/scene_builder.h"

void scene_arrows_build(struct builder *b); /* marks must be sorted by row and x */

#endif
