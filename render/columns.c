/* The columns of a scene: slots side by side, how wide each is, and, placed by time, its ruler. */
#include "render/columns.h"

#include "render/measure.h"
#include "render/slots.h"
#include "memory/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SQUEEZE_COLUMNS 12 /* empty ones in a row are drawn as one jag */
#define JAG_PT 34.0
#define TICK_PT 70.0 /* ticks of the ruler are at least so far apart */

/* ---- slots ---- */

static int by_column(const void *a, const void *b)
{
    const struct placed_mark *x = a, *y = b;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Are two marks of one column the same point? */
static bool together(const struct shown_event *a, const struct shown_event *b)
{
    if (a->state != EVENT_ORDERED || b->state != EVENT_ORDERED)
        return false;
    if (a->relation == RELATION_GROUP)
        return a->group && a->group == b->group;
    return a->relation == RELATION_SYNC && a->partner_count == 1 &&
           ref_equal(a->partners[0], b->at);
}

/* Sorts the marks by column and row and gives each its slot. */
void build_slots(struct placed_mark *marks, uint32_t count, struct extent *extents)
{
    struct slot_point *points = memory_zeroed(count + 1, sizeof *points);
    uint32_t *upper = memory_zeroed(count + 1, sizeof *upper); /* 1 + the first mark of its point */
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
            if (together(marks[i].event, marks[k].event)) {
                upper[k] = i + 1;
                point.last_row = marks[k].row;
            }
        points[point_count++] = point;
    }
    slots_assign(points, point_count);
    for (uint32_t i = 0, p = 0; i < count; i++) {
        if (upper[i] == i + 1) /* points come in the order of their upper marks */
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
    struct scene_column c = {.column = b->base + (int32_t)i,
                             .left_pt = extent->left,
                             .right_pt = extent->right + (extent->slots - 1) * SCENE_SLOT_PT,
                             .slots = extent->slots};
    c.x_pt = *x + c.left_pt;
    *x = c.x_pt + c.right_pt;
    PUSH(b->scene->columns, b->scene->column_count, c);
}

/* Length of a stretch of empty columns that is drawn as a jag; 0 if there is none here. */
static uint32_t squeezed(const struct builder *b, uint32_t i, uint32_t count,
                         const struct extent *extents)
{
    uint32_t n = 0;
    while (b->options->squeeze && b->options->column_ns && i + n < count && extents[i + n].empty)
        n++;
    return n >= SQUEEZE_COLUMNS ? n : 0;
}

void build_columns(struct builder *b, uint32_t count, const struct extent *extents)
{
    struct scene *scene = b->scene;
    double x = scene->names_pt;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = squeezed(b, i, count, extents);
        if (!n) {
            add_column(b, i, &x, &extents[i]);
            continue;
        }
        struct scene_jag jag = {x, JAG_PT, (int64_t)(n * b->options->column_ns)};
        PUSH(scene->jags, scene->jag_count, jag);
        struct extent narrow = {.left = JAG_PT / n / 2, .right = JAG_PT / n / 2, .slots = 1};
        for (uint32_t k = 0; k < n; k++)
            add_column(b, i + k, &x, &narrow);
        i += n - 1;
    }
    double least = b->options->minimum_width_pt;
    scene->width_pt = x + 10 > least ? x + 10 : least;
}

/* ---- ruler ---- */

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

/* 1, 2 or 5 times a power of ten, at least ns. */
static int64_t round_step(int64_t ns)
{
    int64_t step = 1;
    while (step * 5 < ns && step < INT64_MAX / 100)
        step *= 10;
    return step >= ns ? step : step * 2 >= ns ? step * 2 : step * 5;
}

void build_ruler(struct builder *b)
{
    struct scene *scene = b->scene;
    int64_t column = (int64_t)b->options->column_ns, last = INT64_MIN;
    if (!column)
        return;
    int64_t step = round_step((int64_t)(TICK_PT / SCENE_COLUMN_PT) * column);
    double free_from = scene->names_pt;
    for (uint32_t i = 0; i < scene->column_count; i++) {
        const struct scene_column *c = &scene->columns[i];
        int64_t from = b->window->time_ns + c->column * column;
        int64_t at = (from >= 0 ? (from + step - 1) / step : from / step) * step;
        double x = c->x_pt - c->left_pt;
        if (at >= from + column || at == last || x < free_from)
            continue;
        struct scene_tick tick = {.x_pt = x};
        scene_duration(at, tick.text, sizeof tick.text);
        PUSH(scene->ticks, scene->tick_count, tick);
        last = at;
        free_from = x + build_measure(b, tick.text, SCENE_LABEL_PT, false) + 12;
    }
}
