#include "render/mark_symbols.h"

#include "render/batched_paths.h"

#define PI 3.14159265358979323846

static void fill_shape(const struct painter *p, enum target_shape shape, double x, double y,
                       double half)
{
    struct batched_paths one = {0}, *batch = p->batch ? p->batch : &one;
    (shape == SHAPE_SQUARE ? batched_paths_square : batched_paths_circle)(batch, p->cr, x, y, half);
    if (batch != &one)
        return;
    batched_paths_paint(&one, p->cr);
    batched_paths_free(&one);
}

void mark_symbol_paint(const struct painter *p, enum target_shape shape, bool filled,
                       struct target_color color, enum event_state state, double x, double y)
{
    if (shape == SHAPE_NONE)
        return;
    painter_background(p);
    fill_shape(p, shape, x, y, HALF + 1.6); /* a halo, so that arrows pass behind the mark */
    painter_color(p, color);
    fill_shape(p, shape, x, y, HALF + 0.6);
    if (!filled) {
        painter_background(p);
        fill_shape(p, shape, x, y, HALF - 0.6);
        painter_color(p, color);
    }
    if (state != EVENT_PENDING)
        return;
    painter_color(p, PAINTER_RED);
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x - HALF - 2, y - HALF - 2);
    cairo_line_to(p->cr, x + HALF + 2, y + HALF + 2);
    cairo_move_to(p->cr, x - HALF - 2, y + HALF + 2);
    cairo_line_to(p->cr, x + HALF + 2, y - HALF - 2);
    cairo_stroke(p->cr);
}

void mark_symbol_strike(const struct painter *p, struct target_color color, double x, double y)
{
    struct batched_paths one = {0}, *batch = p->batch ? p->batch : &one;
    double reach = HALF + 1.5;
    painter_color(p, color);
    batched_paths_line(batch, p->cr, x - reach, y + reach, x + reach, y - reach, 1.2, 0, 0);
    if (batch != &one)
        return;
    batched_paths_paint(&one, p->cr);
    batched_paths_free(&one);
}

void mark_symbol_ring(const struct painter *p, const struct scene_mark *m, double radius,
                      struct target_color color)
{
    cairo_new_sub_path(p->cr);
    cairo_arc(p->cr, m->x_pt, m->y_pt, radius, 0, 2 * PI);
    painter_color(p, color);
    cairo_set_line_width(p->cr, 2);
    cairo_stroke(p->cr);
}

/* Marks a stop at the mark's upper left, where neither arrows nor side bars are. */
void mark_symbol_stop(const struct painter *p, const struct scene_mark *m)
{
    cairo_new_sub_path(p->cr);
    cairo_arc(p->cr, m->x_pt - HALF - 0.5, m->y_pt - HALF - 4.5, 3.2, 0, 2 * PI);
    painter_color(p, PAINTER_RED);
    cairo_fill_preserve(p->cr);
    cairo_set_source_rgb(p->cr, 1, 1, 1);
    cairo_set_line_width(p->cr, 0.8);
    cairo_stroke(p->cr);
}
