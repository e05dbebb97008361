#include "render/scene_slots.h"

#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
    const struct slot_point *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->first_row != y->first_row)
        return x->first_row < y->first_row ? -1 : 1;
    return x->last_row < y->last_row ? -1 : x->last_row > y->last_row;
}

void scene_slots_assign(struct slot_point *points, uint32_t count)
{
    int64_t end[SLOTS_MAX]; /* last row taken in each slot of this column */
    if (count)
        qsort(points, count, sizeof *points, by_place);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || points[i].column != points[i - 1].column)
            for (int s = 0; s < SLOTS_MAX; s++)
                end[s] = -1;
        uint32_t slot = 0;
        while (slot + 1 < SLOTS_MAX && end[slot] >= points[i].first_row)
            slot++;
        points[i].slot = slot;
        if (end[slot] < points[i].last_row)
            end[slot] = points[i].last_row;
    }
}
