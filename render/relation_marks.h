/* Painting what stands out: how events stand to the selected one, chains, deadlocks. */
#ifndef RENDER_RELATION_MARKS_H
#define RENDER_RELATION_MARKS_H

#include "render/painter.h"

/* Selections may be NULL: nothing stands out. */
bool relation_marks_enabled(const struct paint_selection *selection, const struct scene_mark *mark);
void relation_marks_mark(struct painter *painter, const struct scene_mark *mark,
                         const struct paint_selection *selection);
/* A bar on the side where the event stands, or on both where that is not known. */
void relation_marks_side(const struct painter *painter, const struct scene_mark *mark);
/* Not NULL: */
void relation_marks_chain(const struct painter *painter, const struct paint_selection *selection);
void relation_marks_stuck(struct painter *painter, const struct paint_selection *selection);

#endif
