#include "render/scene_times.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/units.h"
#include "render/scene_builder.h"
#include "wire/event_types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int scene_times_compare(const void *a, const void *b)
{
    const struct time_at *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->x_pt < y->x_pt ? -1 : x->x_pt > y->x_pt;
}

void scene_times_make(struct scene_times *t, const struct scene *s)
{
    *t = (struct scene_times){.at = xmalloc((s->mark_count + 1) * sizeof *t->at),
                              .left_pt = s->names_pt,
                              .right_pt = s->width_pt};
    for (uint32_t i = 0; i < s->mark_count; i++)
        if (s->marks[i].state != EVENT_PENDING)
            t->at[t->count++] = (struct time_at){s->marks[i].event->time_ns, s->marks[i].x_pt};
    qsort(t->at, t->count, sizeof *t->at, scene_times_compare);
    for (uint32_t i = 1; i < t->count; i++)
        if (t->at[i].x_pt < t->at[i - 1].x_pt)
            t->at[i].x_pt = t->at[i - 1].x_pt;
}

void scene_times_free(struct scene_times *t)
{
    free(t->at);
    *t = (struct scene_times){0};
}

double scene_times_x(const struct scene_times *t, int64_t ns)
{
    uint32_t low = LOWER_BOUND(i, 0, t->count, t->at[i].ns <= ns);
    if (low == 0 || low == t->count)
        return low && t->at[low - 1].ns == ns ? t->at[low - 1].x_pt
               : low                          ? t->right_pt
                                              : t->left_pt;
    const struct time_at *p = &t->at[low - 1], *q = &t->at[low];
    return p->x_pt + (q->x_pt - p->x_pt) * (double)(ns - p->ns) / (double)(q->ns - p->ns);
}

int64_t scene_times_ns(const struct scene_times *t, double x_pt)
{
    uint32_t low = LOWER_BOUND(i, 0, t->count, t->at[i].x_pt <= x_pt);
    if (low == 0 || low == t->count)
        return t->count ? t->at[low ? low - 1 : 0].ns : 0;
    const struct time_at *p = &t->at[low - 1], *q = &t->at[low];
    return p->ns + llround((double)(q->ns - p->ns) * (x_pt - p->x_pt) / (q->x_pt - p->x_pt));
}

void scene_times_span(const struct scene_times *t, int64_t *from_ns, int64_t *to_ns)
{
    *from_ns = t->count ? t->at[0].ns : 0;
    *to_ns = t->count ? t->at[t->count - 1].ns : 0;
}

/* ---- columns by time ---- */

/* this many empty columns in a row are drawn as one jag if `squeeze` is set */
#define SQUEEZE_COLUMNS 12
#define EMPTY_MOST 4000    /* and this many always */
#define TICK_PT 70.0 /* minimum distance of ticks */

struct time_point { /* marks of one synchronization point */
    uint32_t first, count; /* indices into the marks */
    int32_t cell;
    int64_t time_ns;
    uint64_t position;
    uint32_t first_row, last_row;
};

static int by_position(const void *a, const void *b)
{
    const struct event_info *x = ((const struct laid_out_event *)a)->event,
                            *y = ((const struct laid_out_event *)b)->event;
    if (x->position != y->position) /* pending events have no position and come last */
        return x->position < y->position ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_time(const void *a, const void *b)
{
    const struct time_point *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

static void add_to(struct time_point *p, const struct laid_out_event *m)
{
    p->first_row = m->row < p->first_row ? m->row : p->first_row;
    p->last_row = m->row > p->last_row ? m->row : p->last_row;
    p->time_ns = m->event->time_ns > p->time_ns ? m->event->time_ns : p->time_ns;
    p->count++;
}

/* Groups the marks, sorted by position, into points: the members of a point are adjacent in the
 * log. */
static uint32_t find_points(const struct laid_out_event *marks, uint32_t count,
                            struct time_point *points)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct laid_out_event *m = &marks[i];
        bool pending = m->event->state == EVENT_PENDING;
        if (i == 0 || !event_info_same_point(marks[i - 1].event, m->event))
            points[n++] = (struct time_point){.first = i,
                                              .cell = pending ? INT32_MAX : m->event->column,
                                              .time_ns = m->event->time_ns,
                                              .position = m->event->position,
                                              .first_row = m->row,
                                              .last_row = m->row};
        add_to(&points[n - 1], m);
    }
    if (n)
        qsort(points, n, sizeof *points, by_time);
    return n;
}

/* Returns the index of the mark at a position, by binary search; `count` if there is none. */
static uint32_t mark_at(const struct laid_out_event *marks, uint32_t count, uint64_t position)
{
    uint32_t low = LOWER_BOUND(i, 0, count, marks[i].event->position < position);
    return low < count && marks[low].event->position == position ? low : count;
}

/* Returns for each point 1 + the index of the last point that happened before it; 0 if there is
 * none. */
static uint32_t *find_behind(const struct laid_out_event *marks, uint32_t count,
                             const struct time_point *points, uint32_t n)
{
    uint32_t *point_of = xcalloc(count + 1, sizeof *point_of);
    uint32_t *behind = xcalloc(n + 1, sizeof *behind);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < points[i].count; k++)
            point_of[points[i].first + k] = i + 1;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < points[i].count; k++) {
            const struct event_info *e = marks[points[i].first + k].event;
            uint32_t at = mark_at(marks, count, e->behind);
            uint32_t before = e->state == EVENT_PENDING  ? 0
                              : e->behind == e->position ? i
                              : at < count               ? point_of[at]
                                                         : 0;
            behind[i] = before > behind[i] ? before : behind[i];
        }
    free(point_of);
    return behind;
}

/* May a point share a column with the points from `first` to the one before it? Not if it happened
 * after one of them, or if their rows overlap, where its arrow would cross theirs. */
static bool may_join(const struct time_point *points, const uint32_t *behind, uint32_t first,
                     uint32_t at)
{
    const struct time_point *p = &points[at];
    if (behind[at] > first)
        return false;
    for (uint32_t i = first; i < at; i++)
        if ((points[i].first_row <= p->last_row && p->first_row <= points[i].last_row) ||
            points[i].cell != p->cell)
            return false;
    return true;
}

/* ---- columns ---- */

struct time_column_builder {
    struct builder *b;
    struct extent *extents;
    uint32_t count, room;
};

static void add_column(struct time_column_builder *c, int32_t cell, uint32_t cells)
{
    if (c->count == c->room) {
        c->room = c->room ? 2 * c->room : 64;
        c->extents = xreallocarray(c->extents, c->room, sizeof *c->extents);
        c->b->cells = xreallocarray(c->b->cells, c->room, sizeof *c->b->cells);
    }
    double half = SCENE_COLUMN_PT / 2;
    c->b->cells[c->count] = (struct builder_cell){cell, cells, 0};
    c->extents[c->count++] = (struct extent){half, half, 1};
}

/* Adds the columns of the window between two that have events. */
static void add_empty(struct time_column_builder *c, int32_t from, int32_t to)
{
    int64_t empty = (int64_t)to - from;
    if (empty >= EMPTY_MOST || (c->b->options->squeeze && empty >= SQUEEZE_COLUMNS)) {
        add_column(c, from, (uint32_t)empty);
        return;
    }
    for (int32_t cell = from; cell < to; cell++)
        add_column(c, cell, 1);
}

struct extent *time_columns_build(struct builder *b, struct laid_out_event *marks, uint32_t count,
                                  uint32_t *columns)
{
    struct time_point *points = xcalloc(count + 1, sizeof *points);
    struct time_column_builder c = {.b = b};
    uint32_t first = 0; /* the first point of the newest column */
    if (count)
        qsort(marks, count, sizeof *marks, by_position);
    uint32_t n = find_points(marks, count, points);
    uint32_t *behind = find_behind(marks, count, points, n);
    for (uint32_t i = 0; i < n; i++) {
        struct time_point *p = &points[i];
        if (p->cell == INT32_MAX) /* unknown time: after all others */
            p->cell = c.count ? b->cells[c.count - 1].column : 0;
        if (i && p->cell > points[i - 1].cell + 1)
            add_empty(&c, points[i - 1].cell + 1, p->cell);
        if (!i || !may_join(points, behind, first, i)) {
            add_column(&c, p->cell, 1);
            b->cells[c.count - 1].time_ns = p->time_ns;
            first = i;
        }
        for (uint32_t k = 0; k < p->count; k++)
            marks[p->first + k].column = c.count - 1;
    }
    if (!c.count)
        add_column(&c, 0, 1);
    free(points);
    free(behind);
    *columns = c.count;
    return c.extents;
}

/* ---- the ruler ---- */

int64_t time_columns_round(int64_t least)
{
    int64_t step = 1;
    while (step < INT64_MAX / 100 && step * 5 < least)
        step *= 10;
    return step >= least ? step : step * 2 >= least ? step * 2 : step * 5;
}

int64_t time_columns_long(const struct builder *b, int64_t columns)
{
    int64_t ns;
    uint64_t most = INT64_MAX / 4, column = b->options->column_ns;
    if (__builtin_mul_overflow(columns, (int64_t)(column < most ? column : most), &ns) ||
        ns > INT64_MAX / 4 || ns < INT64_MIN / 4)
        ns = columns < 0 ? INT64_MIN / 4 : INT64_MAX / 4;
    return ns;
}

/* Returns the distance of ticks, ns: a round number of columns, so that ticks are where columns
 * begin. Jags do not count for the average width of a column. */
static int64_t ruler_step(const struct builder *b)
{
    const struct scene *scene = b->scene;
    double width = 0, cells = 0;
    for (uint32_t i = 0; i < scene->column_count; i++) {
        const struct scene_column *c = &scene->columns[i];
        if (b->cells[i].cells > 1)
            continue;
        width += c->left_pt + c->right_pt;
        cells += i == 0 || c->column != scene->columns[i - 1].column;
    }
    double each = cells > 0 ? width / cells : SCENE_COLUMN_PT;
    int64_t column = time_columns_long(b, 1);
    double columns = each < TICK_PT ? TICK_PT / each : 1;
    return columns * (double)column < 1e17 ? time_columns_round((int64_t)(columns * (double)column))
                                           : column;
}

void time_columns_print(int64_t ns, int64_t column_ns, char *text, size_t size)
{
    struct time_unit unit = time_unit_for(ns);
    size_t length;
    int digits = 0;
    for (int64_t step = unit.ns; step >= 10 && step > column_ns / 10; step /= 10)
        digits++;
    length = (size_t)snprintf(text, size, "%.*f", digits, (double)ns / (double)unit.ns);
    if (length < size && strchr(text, '.')) {
        while (text[length - 1] == '0')
            length--;
        length -= text[length - 1] == '.';
    }
    if (length < size)
        snprintf(text + length, size - length, " %s", unit.name);
}

static double add_tick(struct builder *b, double x, int64_t at_ns, int64_t step_ns)
{
    struct scene *scene = b->scene;
    struct scene_tick tick = {.x_pt = x};
    time_columns_print(at_ns, step_ns, tick.text, sizeof tick.text);
    ARRAY_PUSH(scene->ticks, scene->tick_count, tick);
    return x + scene_builder_text_width(b, tick.text, SCENE_LABEL_PT, false) + 12;
}

/* Returns the first multiple of `step` at or after a time. */
static int64_t next_step(int64_t ns, int64_t step)
{
    int64_t rest = ns % step;
    return ns - rest + (rest > 0 ? step : 0);
}

/* Distance of labels within one column of the window that is several columns of the scene. */
#define PARTS_PT 180.0

/* Adds the ticks of a column: at the first round time in it, or where it begins if it is the first
 * one, follows a jag, or is so wide that distances in it are not proportional to time. */
static void time_columns_measure_column(struct builder *b, uint32_t i, int64_t step,
                                        double *free_from)
{
    const struct scene_column *c = &b->scene->columns[i];
    int64_t column = time_columns_long(b, 1);
    double width = c->left_pt + c->right_pt, x = c->x_pt - c->left_pt;
    bool begins = i == 0 || c->column != c[-1].column, jag = b->cells[i].cells > 1;
    bool behind = i == 0 || b->cells[i - 1].cells > 1, wide = width > 1.5 * SCENE_COLUMN_PT;
    wide |= i + 1 < b->scene->column_count && c[1].column == c->column;
    int64_t from = b->window->time_ns + time_columns_long(b, c->column), at = next_step(from, step);
    if (jag || x < *free_from)
        return;
    if (!begins) {
        if (x > *free_from + PARTS_PT)
            *free_from = add_tick(b, x, b->cells[i].time_ns, 1);
        return;
    }
    if (behind || wide)
        at = from;
    if (at < from + column)
        *free_from = add_tick(b, x + (double)(at - from) / (double)column * width, at,
                              step < column ? step : column);
}

void time_columns_build_ruler(struct builder *b)
{
    struct scene *scene = b->scene;
    double free_from = scene->names_pt;
    bool ruled = b->cells && b->options->column_ns;
    int64_t step = ruled ? ruler_step(b) : 1;
    for (uint32_t i = 0; ruled && i < scene->column_count; i++)
        time_columns_measure_column(b, i, step, &free_from);
}
