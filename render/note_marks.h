/* Flags at events that somebody has written a note at, and the notes below the picture. */
#ifndef RENDER_NOTE_MARKS_H
#define RENDER_NOTE_MARKS_H

#include "render/scene_builder.h"

void note_marks_build(struct builder *b); /* when all else is placed */

#endif
