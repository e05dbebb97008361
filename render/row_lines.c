#include "render/row_lines.h"

#include "render/batched_paths.h"

#include <math.h>

#define HEAD_PT 5.0

static const struct {
    double width, dashes[2]; /* 0: none */
} styles[] = {[STYLE_DASHED] = {1, {3.5, 2.5}}, [STYLE_THIN] = {0.6, {0}},
              [STYLE_SOLID] = {1.8, {0}},       [STYLE_ELSEWHERE] = {0.9, {0.9, 2.7}},
              [STYLE_WAITS] = {1.7, {5, 2.5}},  [STYLE_END] = {1.8, {0}}};

/* Draws a line, batched with similar ones if the painter has a batch. */
static void draw_line(const struct painter *p, double x0, double y0, double x1, double y1,
                      double width, const double *dashes)
{
    struct batched_paths one = {0}, *batch = p->batch ? p->batch : &one;
    batched_paths_line(batch, p->cr, x0, y0, x1, y1, width, dashes[0], dashes[1]);
    if (batch != &one)
        return;
    batched_paths_paint(&one, p->cr);
    batched_paths_free(&one);
}

void row_line_style(const struct painter *p, enum scene_style style)
{
    cairo_set_dash(p->cr, styles[style].dashes, styles[style].dashes[0] > 0 ? 2 : 0, 0);
    cairo_set_line_width(p->cr, styles[style].width);
}

struct target_color row_line_color(enum scene_style style, struct target_color c)
{
    if (style != STYLE_ELSEWHERE)
        return c;
    return (struct target_color){1 - 0.62 * (1 - c.red), 1 - 0.62 * (1 - c.green),
                                 1 - 0.62 * (1 - c.blue)};
}

void row_line_segment(const struct painter *p, const struct scene_segment *s)
{
    double from = s->from_pt < p->from ? p->from : s->from_pt;
    double to = s->to_pt > p->to ? p->to : s->to_pt;
    if (to <= from || !painter_sees_row(p, s->row))
        return;
    double y = p->scene->rows[s->row].y_pt;
    if (s->is_long) {
        painter_color(p, PAINTER_AMBER);
        cairo_rectangle(p->cr, from, y + 3.5, to - from, 2.5);
        cairo_fill(p->cr);
    }
    const double *dashes = styles[s->style].dashes, width = styles[s->style].width;
    painter_color(p, row_line_color(s->style, s->color));
    draw_line(p, from, y, to, y, width, dashes);
    if (s->style == STYLE_END) /* a bar across: the line ends here */
        draw_line(p, s->to_pt, y - 2.8, s->to_pt, y + 2.8, width, dashes);
}

static void paint_head(const struct painter *p, double x, double y, double dx, double dy,
                       double length)
{
    struct batched_paths one = {0}, *batch = p->batch ? p->batch : &one;
    batched_paths_head(batch, p->cr, x, y, dx, dy, length);
    if (batch != &one)
        return;
    batched_paths_paint(&one, p->cr);
    batched_paths_free(&one);
}

#define ORDER_HEAD_PT 3.4
#define ORDER_END_PT (HALF + 0.6)

/* Paints an order edge: dotted and thin with a small head, since the layout leaves no space for
 * it. */
static void paint_order(const struct painter *p, const struct scene_link *l)
{
    static const double dots[] = {0.1, 2.1};
    double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt, length = hypot(dx, dy);
    dx /= length;
    dy /= length;
    double turn = l->bow_pt != 0 ? 0.5 : 0; /* approximate slope at the end of the bow */
    double hx = l->bow_pt != 0 ? 0.87 : dx, hy = l->bow_pt != 0 ? -turn : dy;
    double x1 = l->x1_pt - hx * ORDER_END_PT, y1 = l->y1_pt - hy * ORDER_END_PT;
    double tx = x1 - hx * ORDER_HEAD_PT, ty = y1 - hy * ORDER_HEAD_PT;
    painter_color(p, l->color);
    cairo_set_line_width(p->cr, 1.1);
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_dash(p->cr, dots, 2, 0);
    cairo_move_to(p->cr, l->x0_pt, l->y0_pt);
    if (l->bow_pt != 0) {
        double reach = fmin(length / 3, 14), low = l->y0_pt + l->bow_pt * 1.2;
        cairo_curve_to(p->cr, l->x0_pt + reach, low, tx - reach, low, tx, ty);
    } else {
        cairo_line_to(p->cr, tx, ty);
    }
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_BUTT);
    paint_head(p, x1, y1, hx, hy, ORDER_HEAD_PT);
}

void row_line_link(const struct painter *p, const struct scene_link *l)
{
    double left = fmin(l->x0_pt, l->x1_pt), right = fmax(l->x0_pt, l->x1_pt);
    if (right < p->from || left > p->to)
        return;
    if (fmax(l->y0_pt, l->y1_pt) < p->above || fmin(l->y0_pt, l->y1_pt) > p->below)
        return;
    double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt, length = hypot(dx, dy);
    if (length < 1)
        return;
    if (l->kind == ARROW_ORDER) {
        paint_order(p, l);
        return;
    }
    dx /= length;
    dy /= length;
    double end = l->head ? HALF + 1.2 : 0;
    double x1 = l->x1_pt - dx * end, y1 = l->y1_pt - dy * end;
    painter_color(p, l->contradictory ? PAINTER_RED : l->color);
    static const double via[] = {2.5, 2.5}, solid[] = {0, 0};
    draw_line(p, l->x0_pt, l->y0_pt, x1, y1, l->kind == ARROW_GROUP ? 2.2 : 0.9,
              l->kind == ARROW_VIA ? via : solid);
    if (l->head)
        paint_head(p, x1, y1, dx, dy, HEAD_PT);
}

void row_line_gap(const struct painter *p, const struct scene_gap *gap)
{
    if (!painter_sees_row(p, gap->row) || gap->x_pt < p->from || gap->x_pt > p->to)
        return;
    double y = p->scene->rows[gap->row].y_pt;
    painter_background(p);
    cairo_rectangle(p->cr, gap->x_pt - 4, y - 3, 8, 6);
    cairo_fill(p->cr);
    painter_color(p, PAINTER_RED);
    cairo_set_line_width(p->cr, 1);
    for (int i = -1; i <= 1; i += 2) {
        cairo_move_to(p->cr, gap->x_pt + 3 * i - 1.5, y + 4);
        cairo_line_to(p->cr, gap->x_pt + 3 * i + 1.5, y - 4);
    }
    cairo_stroke(p->cr);
}
