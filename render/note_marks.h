/* Flags at events with user notes, and the notes below the diagram. */
#ifndef RENDER_NOTE_MARKS_H
#define RENDER_NOTE_MARKS_H

#include "render/scene_builder.h"

void note_marks_build(struct builder *b); /* call when everything else is placed */

#endif
