/* Painting highlights: relations of events to the selected one, causal chains, deadlocks. */
#ifndef RENDER_RELATION_MARKS_H
#define RENDER_RELATION_MARKS_H

#include "render/painter.h"

/* The selection may be NULL: nothing is highlighted. */
bool relation_marks_enabled(const struct paint_selection *selection, const struct scene_mark *mark);
void relation_marks_mark(struct painter *painter, const struct scene_mark *mark,
                         const struct paint_selection *selection);
/* Paints a bar on the side of the event's relation, or on both sides if the relation is unknown. */
void relation_marks_side(const struct painter *painter, const struct scene_mark *mark);
/* The selection must not be NULL. */
void relation_marks_chain(const struct painter *painter, const struct paint_selection *selection);
void relation_marks_stuck(struct painter *painter, const struct paint_selection *selection);

#endif
