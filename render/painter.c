#include "render/painter.h"

#include "base/alloc.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>

void painter_rotate(cairo_t *cr)
{
    cairo_matrix_t turn;
    cairo_matrix_init(&turn, 0, 1, 1, 0, 0, 0);
    cairo_transform(cr, &turn);
}

void painter_color(const struct painter *p, struct target_color c)
{
    double grey = 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue;
    if (p->theme->grey)
        c = (struct target_color){grey * 0.6, grey * 0.6, grey * 0.6};
    if (p->theme->dark && fabs(c.red - c.green) < 0.05 && fabs(c.green - c.blue) < 0.05) {
        double v = 0.9 - 0.6 * grey; /* inverted: dark grays become light */
        c = (struct target_color){v, v, v};
    } else if (p->theme->dark) { /* the same hue, light enough for a dark background */
        c.red = 0.45 + 0.55 * c.red;
        c.green = 0.45 + 0.55 * c.green;
        c.blue = 0.45 + 0.55 * c.blue;
    }
    if (p->alpha < 1)
        cairo_set_source_rgba(p->cr, c.red, c.green, c.blue, p->alpha);
    else
        cairo_set_source_rgb(p->cr, c.red, c.green, c.blue);
}

void painter_text(const struct painter *p, double x, double y, const char *text, double size,
                  bool bold)
{
    if (!p->scene->vertical) {
        text_cache_show(p->cr, x, y, text, size, bold);
        return;
    }
    cairo_save(p->cr);
    painter_rotate(p->cr);
    text_cache_show(p->cr, y, x, text, size, bold);
    cairo_restore(p->cr);
}

double painter_brightness(bool dark) { return dark ? 0.13 : 1; }

void painter_background(const struct painter *p)
{
    double v = painter_brightness(p->theme->dark);
    cairo_set_source_rgb(p->cr, v, v, v);
}

void painter_fill_background(cairo_t *cr, const struct paint_theme *theme)
{
    double v = painter_brightness(theme->dark);
    cairo_set_source_rgb(cr, v, v, v);
    cairo_paint(cr);
}

bool painter_sees_row(const struct painter *p, uint32_t row)
{
    return row >= p->part->first_row && row < p->part->last_row;
}

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

/* Adds an item in the current source color of `cr`. */
static void batched_paths_add_item(struct batched_paths *batch, cairo_t *cr, struct batch_item item)
{
    struct batch_color *c = &item.color;
    cairo_pattern_get_rgba(cairo_get_source(cr), &c->red, &c->green, &c->blue, &c->alpha);
    batch->items =
        array_reserve(batch->items, &batch->room, batch->count + 1, sizeof *batch->items);
    batch->items[batch->count++] = item;
}

void batched_paths_circle(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double radius)
{
    batched_paths_add_item(
        batch, cr, (struct batch_item){SHAPES_CIRCLE, {0, 0, 0, 1}, radius, .x0 = x, .y0 = y});
}

void batched_paths_square(struct batched_paths *batch, cairo_t *cr, double x, double y, double half)
{
    batched_paths_add_item(
        batch, cr, (struct batch_item){SHAPES_SQUARE, {0, 0, 0, 1}, half, .x0 = x, .y0 = y});
}

void batched_paths_line(struct batched_paths *batch, cairo_t *cr, double x0, double y0, double x1,
                        double y1, double width, double dash, double pause)
{
    batched_paths_add_item(
        batch, cr, (struct batch_item){LINES, {0, 0, 0, 1}, width, dash, pause, x0, y0, x1, y1});
}

void batched_paths_head(struct batched_paths *batch, cairo_t *cr, double x, double y, double dx,
                        double dy, double length)
{
    batched_paths_add_item(batch, cr,
                           (struct batch_item){HEADS, {0, 0, 0, 1}, length, 0, 0, x, y, dx, dy});
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
    /* a point drawn with a round pen, closed: an arc would be four curves */
    case SHAPES_CIRCLE:
        cairo_move_to(cr, i->x0, i->y0);
        cairo_close_path(cr);
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

/* Cairo finds the part of a page that a stroke covers by the corners of its dots, of which the
 * tolerance decides the number.  Four give the same extents, and what is written are circles. */
static void batched_paths_coarsen_dots(cairo_t *cr, double radius)
{
    double dx = radius, dy = 0;
    if (cairo_surface_get_type(cairo_get_target(cr)) != CAIRO_SURFACE_TYPE_PDF)
        return;
    cairo_user_to_device_distance(cr, &dx, &dy);
    cairo_set_tolerance(cr, 1.5 * hypot(dx, dy));
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
    double tolerance = cairo_get_tolerance(cr);
    if (round)
        batched_paths_coarsen_dots(cr, i->size);
    cairo_stroke(cr);
    cairo_set_tolerance(cr, tolerance);
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
