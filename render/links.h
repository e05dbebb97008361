/* Arrows between marks. */
#ifndef RENDER_LINKS_H
#define RENDER_LINKS_H

#include "render/builder.h"

void scene_arrows_build(struct builder *b); /* marks must be sorted by row and x */

#endif
