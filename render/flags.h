/* Flags at events that somebody has written a note at, and the notes below the picture. */
#ifndef RENDER_FLAGS_H
#define RENDER_FLAGS_H

#include "render/builder.h"

void note_marks_build(struct builder *b); /* when all else is placed */

#endif
