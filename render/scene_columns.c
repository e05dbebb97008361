/* Columns of a scene: the slots of their marks, and their widths. */
#include "render/scene_columns.h"

#include "render/time_columns.h"
#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JAG_PT 34.0

/* ---- slots ---- */

static int scene_columns_by_place(const void *a, const void *b)
{
    const struct slot_point *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    if (x->first_row != y->first_row)
        return x->first_row < y->first_row ? -1 : 1;
    return x->last_row < y->last_row ? -1 : x->last_row > y->last_row;
}

void scene_columns_assign_slots(struct slot_point *points, uint32_t count)
{
    int64_t end[SLOTS_MAX]; /* last row taken in each slot of this column */
    if (count)
        qsort(points, count, sizeof *points, scene_columns_by_place);
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

static int by_column(const void *a, const void *b)
{
    const struct laid_out_event *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Are two marks of one column one synchronization point? */
static bool scene_columns_same_point(const struct event_info *a, const struct event_info *b)
{
    if (a->state != EVENT_ORDERED || b->state != EVENT_ORDERED)
        return false;
    if (a->relation == RELATION_GROUP)
        return a->group && a->group == b->group;
    return a->relation == RELATION_SYNC && a->partner_count == 1 &&
           event_id_equal(a->partners[0], b->at);
}

/* Sorts the marks by column and row and gives each its slot. */
void scene_columns_build_slots(struct laid_out_event *marks, uint32_t count, struct extent *extents)
{
    struct slot_point *points = xcalloc(count + 1, sizeof *points);
    uint32_t *upper = xcalloc(count + 1, sizeof *upper); /* 1 + the uppermost mark of its point */
    uint32_t point_count = 0;
    if (count)
        qsort(marks, count, sizeof *marks, by_column);
    for (uint32_t i = 0; i < count; i++) {
        if (upper[i])
            continue;
        upper[i] = i + 1;
        struct slot_point point = {marks[i].column, marks[i].row, marks[i].row, 0};
        bool single =
            marks[i].event->relation != RELATION_SYNC && marks[i].event->relation != RELATION_GROUP;
        for (uint32_t k = i + 1; !single && k < count && marks[k].column == marks[i].column; k++)
            if (scene_columns_same_point(marks[i].event, marks[k].event)) {
                upper[k] = i + 1;
                point.last_row = marks[k].row;
            }
        points[point_count++] = point;
    }
    scene_columns_assign_slots(points, point_count);
    for (uint32_t i = 0, p = 0; i < count; i++) {
        if (upper[i] == i + 1) /* points are in the order of their uppermost marks */
            marks[i].slot = points[p++].slot;
        else
            marks[i].slot = marks[upper[i] - 1].slot;
        struct extent *x = &extents[marks[i].column];
        x->slots = marks[i].slot + 1 > x->slots ? marks[i].slot + 1 : x->slots;
    }
    free(points);
    free(upper);
}

/* ---- widths ---- */

static void add_column(struct builder *b, uint32_t i, double *x, const struct extent *extent)
{
    struct scene_column c = {.column = b->cells ? b->cells[i].column : b->base + (int32_t)i,
                             .left_pt = extent->left,
                             .right_pt = extent->right + (extent->slots - 1) * SCENE_SLOT_PT,
                             .slots = extent->slots};
    c.x_pt = *x + c.left_pt;
    *x = c.x_pt + c.right_pt;
    ARRAY_PUSH(b->scene->columns, b->scene->column_count, c);
}

/* Adds a column that stands for a long interval without events. */
static void add_jag(struct builder *b, uint32_t i, double *x)
{
    struct scene_jag jag = {*x, JAG_PT, time_columns_long(b, b->cells[i].cells)};
    struct extent narrow = {.left = JAG_PT / 2, .right = JAG_PT / 2, .slots = 1};
    ARRAY_PUSH(b->scene->jags, b->scene->jag_count, jag);
    add_column(b, i, x, &narrow);
}

void scene_columns_build(struct builder *b, uint32_t count, const struct extent *extents)
{
    struct scene *scene = b->scene;
    double x = scene->names_pt;
    for (uint32_t i = 0; i < count; i++)
        if (b->cells && b->cells[i].cells > 1)
            add_jag(b, i, &x);
        else
            add_column(b, i, &x, &extents[i]);
    double least = b->options->minimum_width_pt;
    scene->width_pt = x + 10 > least ? x + 10 : least;
}

/* ---- durations ---- */

void scene_duration(int64_t ns, char *s, size_t size)
{
    static const struct {
        int64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};
    size_t u = 0;
    while (u < 3 && llabs(ns) < units[u].ns)
        u++;
    snprintf(s, size, "%.6g %s", (double)ns / (double)units[u].ns, units[u].unit);
}
