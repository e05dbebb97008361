/* Rows of worker threads (render/worker_rows.h) in a scene that is placed by time: the tasks on
 * each, and their migrations; above those of a cluster, how many of its worker threads ran a
 * task. */
#ifndef RENDER_WORKER_ROW_SCENE_H
#define RENDER_WORKER_ROW_SCENE_H

#include "render/scene_builder.h"

/* Adds the rows after those of lines; *widest: of the names. */
void worker_row_scene_build(struct builder *b, double *widest);
/* Adds the bars, after the marks were placed. */
void worker_row_scene_placements(struct builder *b);
/* Paints the visible bars of rows. */
struct painter;
void worker_row_scene_paint(const struct painter *painter);

#endif
