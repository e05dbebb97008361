/* Layout of the columns of a scene: their widths, and the slots side by side within one.
 *
 * The marks of one column are concurrent or simultaneous, so they may be side by side. A
 * synchronization point with marks on several rows takes the rows between them for its arrow;
 * points whose rows overlap get different slots, so that no arrow passes over a mark or runs along
 * another. Slots depend on nothing outside the column: scrolling does not change them. */
#ifndef RENDER_SCENE_COLUMNS_H
#define RENDER_SCENE_COLUMNS_H

#include "render/scene_builder.h"

struct slot_point {
    uint32_t column;
    uint32_t first_row, last_row;
    uint32_t slot; /* the result, from 0 */
};

#define SLOTS_MAX 12 /* further points overlap */

/* Sorts the points by column and first row and assigns slots, first fit. */
void scene_columns_assign_slots(struct slot_point *points, uint32_t count);
/* Sorts the marks by column and row and assigns slots. */
void scene_columns_build_slots(struct laid_out_event *marks, uint32_t count,
                               struct extent *extents);
void scene_columns_build(struct builder *b, uint32_t count, const struct extent *extents);

#endif
