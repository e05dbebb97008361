/* Slots: places side by side within one column.
 *
 * The marks of one column are concurrent or simultaneous, so they may be side by side. A
 * synchronization point with marks on several rows takes the rows between them for its arrow;
 * points whose rows overlap get different slots, so that no arrow passes over a mark or runs along
 * another. Depends on nothing outside the column: scrolling does not change it. */
#ifndef RENDER_SCENE_SLOTS_H
#define RENDER_SCENE_SLOTS_H

#include <stdint.h>

struct slot_point {
    uint32_t column;
    uint32_t first_row, last_row;
    uint32_t slot; /* the result, from 0 */
};

#define SLOTS_MAX 12 /* further points overlap */

/* Sorts the points by column and first row and assigns slots, first fit. */
void scene_slots_assign(struct slot_point *points, uint32_t count);

#endif
