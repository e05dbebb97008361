/* Painting what stands out: how events stand to the selected one, chains, deadlocks. */
#ifndef RENDER_STANDING_H
#define RENDER_STANDING_H

#include "render/painter.h"

/* Selections may be NULL: nothing stands out. */
bool standing_wanted(const struct paint_selection *selection, const struct scene_mark *mark);
void standing_mark(struct painter *painter, const struct scene_mark *mark,
                   const struct paint_selection *selection);
/* A bar on the side where the event stands, or on both where that is not known. */
void standing_side(const struct painter *painter, const struct scene_mark *mark);
/* Not NULL: */
void standing_chain(const struct painter *painter, const struct paint_selection *selection);
void standing_stuck(struct painter *painter, const struct paint_selection *selection);

#endif
