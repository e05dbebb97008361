/* Rows of carriers (render/worker_rows.h) in a scene that is placed by time: what was on each, and
 * what went over from one to another; above those of a cluster, how many of them ran something. */
#ifndef RENDER_WORKER_ROW_SCENE_H
#define RENDER_WORKER_ROW_SCENE_H

#include "render/scene_builder.h"

/* Behind the rows of lines; *widest: of the names. */
void worker_row_scene_build(struct builder *b, double *widest);
/* Once the marks stand. */
void worker_row_scene_placements(struct builder *b);
/* Bars of rows, as they are seen. */
struct painter;
void worker_row_scene_paint(const struct painter *painter);

#endif
