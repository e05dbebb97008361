#include "render/scene_builder.h"

#include "base/alloc.h"
#include "base/units.h"
#include "render/scene_times.h"

#include <stdlib.h>
#include <string.h>

double scene_builder_text_width(const struct builder *b, const char *text, double size, bool bold)
{
    if (b->options->measure)
        return b->options->measure(b->options->context, text, size, bold);
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return 0.55 * size * (double)n;
}

char *scene_builder_fit_text(const struct builder *b, const char *text, double size, double limit)
{
    size_t n = strlen(text);
    char *s = xmalloc(n + 4);
    memcpy(s, text, n + 1);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] < ' ')
            s[i] = ' ';
    while (n && scene_builder_text_width(b, s, size, false) > limit) {
        n -= n > 64 ? n / 8 : 1;
        while (n && (s[n] & 0xc0) == 0x80)
            n--;
        memcpy(s + n, "…", 4);
    }
    return s;
}

int32_t scene_builder_row(const struct builder *b, uint32_t line)
{
    return line && line <= b->line_room ? b->row_of[line - 1] : -1;
}

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
            if (event_info_same_point(marks[i].event, marks[k].event)) {
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

/* ---- breaks between columns ---- */

#define BREAK_IN_TEXT 5u

/* Returns the first column with a left edge right of x. */
static uint32_t scene_columns_right_of(const struct scene *s, double x_pt)
{
    uint32_t from = 0, to = s->column_count;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (s->columns[middle].x_pt - s->columns[middle].left_pt > x_pt)
            to = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Adds a cost to all breaks between two places; as differences, which are summed up at the end. */
static void scene_columns_add_cost(struct scene *s, double x0_pt, double x1_pt, uint32_t cost)
{
    double left = x0_pt < x1_pt ? x0_pt : x1_pt, right = x0_pt < x1_pt ? x1_pt : x0_pt;
    uint32_t first = scene_columns_right_of(s, left), end = scene_columns_right_of(s, right - 0.01);
    if (first >= end)
        return;
    s->columns[first].break_cost += cost;
    if (end < s->column_count)
        s->columns[end].break_cost -= cost;
}

static const struct scene_mark *scene_columns_find_mark(const struct scene *s, struct event_id at)
{
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (event_id_equal(s->marks[i].event->at, at))
            return &s->marks[i];
    return NULL;
}

void scene_columns_weigh_breaks(struct builder *b)
{
    struct scene *s = b->scene;
    for (uint32_t i = 0; i < s->link_count; i++)
        scene_columns_add_cost(s, s->links[i].x0_pt, s->links[i].x1_pt, 1);
    for (uint32_t i = 0; i < s->text_count; i++)
        scene_columns_add_cost(s, s->texts[i].x_pt, s->texts[i].x_pt + s->texts[i].width_pt,
                               BREAK_IN_TEXT);
    for (uint32_t i = 0; i + 1 < b->options->stuck_count; i += 2) {
        const struct scene_mark *waits = scene_columns_find_mark(s, b->options->stuck[i]),
                                *held = scene_columns_find_mark(s, b->options->stuck[i + 1]);
        if (waits && held)
            scene_columns_add_cost(s, waits->x_pt, held->x_pt, BREAK_IN_DEADLOCK);
    }
    for (uint32_t i = 1; i < s->column_count; i++)
        s->columns[i].break_cost += s->columns[i - 1].break_cost;
}

/* ---- durations ---- */

void scene_duration(int64_t ns, char *s, size_t size)
{
    struct time_unit unit = time_unit_for(ns);
    snprintf(s, size, "%.6g %s", (double)ns / (double)unit.ns, unit.name);
}
