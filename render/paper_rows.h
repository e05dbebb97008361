/* Rows of a scene with something between two x: those that a band of a page shows. Not
 * thread-safe. */
#ifndef RENDER_PAPER_ROWS_H
#define RENDER_PAPER_ROWS_H

#include "render/scene_paint.h"

/* Sets kept[row] for each row with a part of its line, a mark or a bar between from_pt and to_pt,
 * and for those that a link or a deadlock of the selection crosses there; for all rows if there is
 * nothing. The first row is kept below a ruler. Returns the number of kept rows. */
uint32_t paper_rows_find(const struct scene *scene, const struct paint_selection *selection,
                         double from_pt, double to_pt, bool *kept);

#endif
