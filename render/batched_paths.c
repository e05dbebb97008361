#include "render/batched_paths.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum batch_item_kind { SHAPES_SQUARE, SHAPES_CIRCLE, LINES, HEADS };

struct batch_item {
    enum batch_item_kind what;
    struct batch_color {
        double red, green, blue, alpha;
    } color;
    /* size: half the width of a shape, width of a line, length of a head */
    double size, dash, pause;
    /* a shape has only the first two; the last two of a head are its direction */
    double x0, y0, x1, y1;
};

static struct batch_item *batched_paths_add_item(struct batched_paths *batch, cairo_t *cr,
                                                 enum batch_item_kind what)
{
    batch->items =
        array_reserve(batch->items, &batch->room, batch->count + 1, sizeof *batch->items);
    struct batch_item *item = &batch->items[batch->count++];
    struct batch_color c = {0, 0, 0, 1};
    cairo_pattern_get_rgba(cairo_get_source(cr), &c.red, &c.green, &c.blue, &c.alpha);
    *item = (struct batch_item){.what = what, .color = c};
    return item;
}

void batched_paths_circle(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double radius)
{
    struct batch_item *item = batched_paths_add_item(batch, cr, SHAPES_CIRCLE);
    item->x0 = x;
    item->y0 = y;
    item->size = radius;
}

void batched_paths_square(struct batched_paths *batch, cairo_t *cr, double x, double y, double half)
{
    struct batch_item *item = batched_paths_add_item(batch, cr, SHAPES_SQUARE);
    item->x0 = x;
    item->y0 = y;
    item->size = half;
}

void batched_paths_line(struct batched_paths *batch, cairo_t *cr, double x0, double y0, double x1,
                        double y1, double width, double dash, double pause)
{
    struct batch_item *item = batched_paths_add_item(batch, cr, LINES);
    item->x0 = x0;
    item->y0 = y0;
    item->x1 = x1;
    item->y1 = y1;
    item->size = width;
    item->dash = dash;
    item->pause = pause;
}

void batched_paths_head(struct batched_paths *batch, cairo_t *cr, double x, double y, double dx,
                        double dy, double length)
{
    struct batch_item *item = batched_paths_add_item(batch, cr, HEADS);
    item->x0 = x;
    item->y0 = y;
    item->x1 = dx;
    item->y1 = dy;
    item->size = length;
}

static int by_number(double x, double y) { return x < y ? -1 : x > y; }

static bool is_shape(const struct batch_item *i) { return i->what <= SHAPES_CIRCLE; }

/* Compares by what decides how a path is drawn: equal items become one path. */
static int by_path(const struct batch_item *a, const struct batch_item *b)
{
    const double *p = &a->color.red, *q = &b->color.red;
    int order = by_number(is_shape(a) ? 0 : a->what, is_shape(b) ? 0 : b->what);
    if (!order)
        order = -by_number(a->size, b->size);
    for (int i = 0; !order && i < 4; i++)
        order = by_number(p[i], q[i]);
    if (!order)
        order = by_number(a->what, b->what);
    if (!order)
        order = by_number(a->dash, b->dash);
    return order ? order : by_number(a->pause, b->pause);
}

static int by_item(const void *a, const void *b)
{
    int order = by_path(a, b);
    const struct batch_item *x = a, *y = b;
    if (!order)
        order = by_number(x->y0, y->y0);
    return order ? order : by_number(x->x0, y->x0);
}

static void batched_paths_append_item_path(cairo_t *cr, const struct batch_item *i)
{
    double size = i->size, dx = i->x1 * size, dy = i->y1 * size, across = 2.4 / 5;
    switch (i->what) {
    case SHAPES_SQUARE:
        cairo_rectangle(cr, i->x0 - size, i->y0 - size, 2 * size, 2 * size);
        break;
    /* a point drawn with a round pen: an arc would be four curves */
    case SHAPES_CIRCLE:
        cairo_move_to(cr, i->x0, i->y0);
        cairo_line_to(cr, i->x0, i->y0);
        break;
    case LINES:
        cairo_move_to(cr, i->x0, i->y0);
        cairo_line_to(cr, i->x1, i->y1);
        break;
    case HEADS:
        cairo_move_to(cr, i->x0, i->y0);
        cairo_line_to(cr, i->x0 - dx - dy * across, i->y0 - dy + dx * across);
        cairo_line_to(cr, i->x0 - dx + dy * across, i->y0 - dy - dx * across);
        cairo_close_path(cr);
        break;
    }
}

static void batched_paths_draw_item(cairo_t *cr, const struct batch_item *i)
{
    double dashes[] = {i->dash, i->pause};
    cairo_set_source_rgba(cr, i->color.red, i->color.green, i->color.blue, i->color.alpha);
    if (i->what == SHAPES_SQUARE || i->what == HEADS) {
        cairo_fill(cr);
        return;
    }
    bool round = i->what == SHAPES_CIRCLE;
    cairo_set_line_cap(cr, round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    cairo_set_line_width(cr, round ? 2 * i->size : i->size);
    cairo_set_dash(cr, dashes, i->dash > 0 ? 2 : 0, 0);
    cairo_stroke(cr);
}

void batched_paths_paint(struct batched_paths *batch, cairo_t *cr)
{
    if (!batch->count)
        return;
    qsort(batch->items, batch->count, sizeof *batch->items, by_item);
    cairo_new_path(cr);
    for (size_t i = 0; i < batch->count; i++) {
        batched_paths_append_item_path(cr, &batch->items[i]);
        if (i + 1 == batch->count || by_path(&batch->items[i], &batch->items[i + 1]) != 0)
            batched_paths_draw_item(cr, &batch->items[i]);
    }
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_dash(cr, NULL, 0, 0);
    batch->count = 0;
}

void batched_paths_free(struct batched_paths *batch)
{
    free(batch->items);
    *batch = (struct batched_paths){0};
}
