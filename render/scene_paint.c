#include "render/scene_paint.h"

#include "base/alloc.h"
#include "render/painter.h"
#include "render/scene_rows.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Painting what is between marks: the lines of rows, arrows, breaks. */

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

/* sets dashes and width */
static void row_line_style(const struct painter *p, enum scene_style style)
{
    cairo_set_dash(p->cr, styles[style].dashes, styles[style].dashes[0] > 0 ? 2 : 0, 0);
    cairo_set_line_width(p->cr, styles[style].width);
}

/* Returns the color of a line; paler if the line shows that its thread is on another one. */
static struct target_color row_line_color(enum scene_style style, struct target_color c)
{
    if (style != STYLE_ELSEWHERE)
        return c;
    return (struct target_color){1 - 0.62 * (1 - c.red), 1 - 0.62 * (1 - c.green),
                                 1 - 0.62 * (1 - c.blue)};
}

static void row_line_segment(const struct painter *p, const struct scene_segment *s)
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

/* ---- lines that reach beyond the painted part ---- */

#define OUTSIDE_PT 4.0 /* of the part, so that no end of a line or head is seen */

/* Narrows the range of fractions of a line, along one axis, to those inside of low..high. */
static void narrow_fractions(double start, double reach, double low, double high, double range[2])
{
    if (reach == 0) {
        range[1] = start < low || start > high ? -1 : range[1];
        return;
    }
    double a = (low - start) / reach, b = (high - start) / reach;
    range[0] = fmax(range[0], fmin(a, b));
    range[1] = fmin(range[1], fmax(a, b));
}

/* Cuts off what is outside of the painted part: a dash costs as much there as inside, and a line
 * may cross thousands of pages.  The start moves by whole periods, so that all dashes stay where
 * they are.  Returns false if nothing is inside. */
static bool cut_dashed_line(const struct painter *p, double period, double from[2], double to[2])
{
    double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy), range[] = {0, 1};
    narrow_fractions(from[0], dx, p->from - OUTSIDE_PT, p->to + OUTSIDE_PT, range);
    narrow_fractions(from[1], dy, p->above - OUTSIDE_PT, p->below + OUTSIDE_PT, range);
    if (range[0] > range[1])
        return false;
    double cut = length > 0 ? floor(range[0] * length / period) * period / length : 0;
    to[0] = from[0] + dx * range[1];
    to[1] = from[1] + dy * range[1];
    from[0] += dx * cut;
    from[1] += dy * cut;
    return true;
}

/* On a page a head may be far outside, at the other end of a line that crosses the page. */
static bool sees_head(const struct painter *p, double x, double y, double length)
{
    return x + length >= p->from && x - length <= p->to && y + length >= p->above &&
           y - length <= p->below;
}

static void paint_head(const struct painter *p, double x, double y, double dx, double dy,
                       double length)
{
    if (!sees_head(p, x, y, length))
        return;
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
    if (l->bow_pt != 0) {
        double reach = fmin(length / 3, 14), low = l->y0_pt + l->bow_pt * 1.2;
        cairo_move_to(p->cr, l->x0_pt, l->y0_pt);
        cairo_curve_to(p->cr, l->x0_pt + reach, low, tx - reach, low, tx, ty);
    } else {
        double from[] = {l->x0_pt, l->y0_pt}, to[] = {tx, ty};
        if (cut_dashed_line(p, dots[0] + dots[1], from, to)) {
            cairo_move_to(p->cr, from[0], from[1]);
            cairo_line_to(p->cr, to[0], to[1]);
        }
    }
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_BUTT);
    paint_head(p, x1, y1, hx, hy, ORDER_HEAD_PT);
}

static void row_line_link(const struct painter *p, const struct scene_link *l)
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
    double from[] = {l->x0_pt, l->y0_pt}, to[] = {l->x1_pt - dx * end, l->y1_pt - dy * end};
    painter_color(p, l->contradictory ? PAINTER_RED : l->color);
    static const double via[] = {2.5, 2.5}, solid[] = {0, 0};
    if (l->head)
        paint_head(p, to[0], to[1], dx, dy, HEAD_PT);
    if (l->kind != ARROW_VIA || cut_dashed_line(p, via[0] + via[1], from, to))
        draw_line(p, from[0], from[1], to[0], to[1], l->kind == ARROW_GROUP ? 2.2 : 0.9,
                  l->kind == ARROW_VIA ? via : solid);
}

static void row_line_gap(const struct painter *p, const struct scene_gap *gap)
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

/* ---- symbols of the legend ---- */

/* Paints an arrow of the legend in its direction in the diagram: across rows, or between them. */
static void legend_symbols_paint_arrow(const struct painter *p, const struct scene_key *k)
{
    bool across = k->arrow == ARROW_SYNC || k->arrow == ARROW_GROUP || k->arrow == ARROW_STUB;
    bool head = k->arrow != ARROW_GROUP && k->arrow != ARROW_CROSSING;
    double along = p->scene->vertical ? 5 : 9, aside = p->scene->vertical ? 9 : 5;
    double dx = across ? 0 : along, dy = across ? aside : aside * 0.6;
    struct painter all = *p; /* the legend is outside of the painted part */
    all.from = all.above = -1e9;
    all.to = all.below = 1e9;
    row_line_link(&all, &(struct scene_link){.kind = k->arrow,
                                             .x0_pt = k->x_pt - dx,
                                             .y0_pt = k->y_pt - dy,
                                             .x1_pt = k->x_pt + dx * (head ? 1.4 : 1),
                                             .y1_pt = k->y_pt + dy * (head ? 1.6 : 1),
                                             .head = head,
                                             .color = k->color});
}

/* Paints a line or an arrow of the legend. */
static void legend_symbols_paint_line(const struct painter *p, const struct scene_key *k)
{
    double dx = p->scene->vertical ? 0 : 9, dy = p->scene->vertical ? 9 : 0;
    if (k->symbol == KEY_ARROW) {
        legend_symbols_paint_arrow(p, k);
        return;
    }
    painter_color(p, row_line_color(k->style, k->color));
    row_line_style(p, k->style);
    double end = k->style == STYLE_END ? 0 : 1;
    cairo_move_to(p->cr, k->x_pt - dx, k->y_pt - dy);
    cairo_line_to(p->cr, k->x_pt + dx * end, k->y_pt + dy * end);
    if (k->style == STYLE_END) {
        cairo_move_to(p->cr, k->x_pt - dy * 0.3, k->y_pt - dx * 0.3);
        cairo_line_to(p->cr, k->x_pt + dy * 0.3, k->y_pt + dx * 0.3);
    }
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
}

static void legend_symbols_paint_key(struct painter *p, const struct scene_key *k)
{
    struct event_info event = {.to_selected = k->relation};
    struct scene_mark m = {.x_pt = k->x_pt, .y_pt = k->y_pt, .event = &event};
    switch (k->symbol) {
    case KEY_MARK:
        mark_symbol_paint(p, k->shape, k->filled, k->color, k->state, k->x_pt, k->y_pt);
        if (k->struck)
            mark_symbol_strike(p, k->color, k->x_pt, k->y_pt);
        break;
    case KEY_RING:
        mark_symbol_ring(p, &m, HALF + 1.5, k->color);
        break;
    case KEY_SIDE:
        p->alpha = k->relation == RELATION_CODE(ORDER_CONCURRENT) ? 0.45 : 1;
        mark_symbol_paint(p, SHAPE_CIRCLE, true, relation_marks_paint(k->relation), EVENT_ORDERED,
                          k->x_pt, k->y_pt);
        p->alpha = 1;
        relation_marks_side(p, &m);
        break;
    case KEY_BAR:
        painter_color(p, k->color);
        cairo_rectangle(p->cr, k->x_pt - 8, k->y_pt - 4, 16, 8);
        cairo_fill(p->cr);
        break;
    case KEY_NOTHING:
        break;
    default:
        legend_symbols_paint_line(p, k);
    }
}

static void legend_symbols_paint(struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->key_count; i++)
        legend_symbols_paint_key(p, &p->scene->keys[i]);
    for (uint32_t i = 0; i < p->scene->note_count; i++) {
        const struct scene_text *t = &p->scene->notes[i];
        painter_color(p, t->color);
        painter_text(p, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

/* ---- parts of the diagram ---- */

/* Paints a text that may be anywhere up to until_pt: whole, in the first part that has space. */
static void paint_movable_text(const struct painter *p, const struct scene_text *t)
{
    double x = fmax(t->x_pt, p->from), end = x + t->width_pt;
    bool shown_before = t->x_pt < p->from && t->x_pt + t->width_pt <= p->from,
         shown_next = end > p->to && t->until_pt - p->to >= t->width_pt;
    if (t->x_pt >= p->to || t->until_pt <= p->from || shown_before || shown_next ||
        (t->x_pt < p->from && t->until_pt - p->from < t->width_pt))
        return;
    x = end > p->to ? fmax(p->from, p->to - t->width_pt) : x;
    painter_color(p, t->color);
    painter_text(p, x, t->y_pt, t->text, t->size_pt, t->bold);
}

static void paint_texts(const struct painter *p)
{
    const struct scene *s = p->scene;
    for (uint32_t i = 0; i < s->text_count; i++) {
        const struct scene_text *t = &s->texts[i];
        if (p->part->sticks && t->until_pt > 0)
            continue;
        if (t->until_pt > 0 && !s->vertical) {
            paint_movable_text(p, t);
            continue;
        }
        if (t->x_pt > p->to || t->x_pt + (s->vertical ? t->height_pt : t->width_pt) < p->from ||
            t->y_pt > p->below || t->y_pt + (s->vertical ? t->width_pt : t->height_pt) < p->above)
            continue;
        painter_color(p, t->color);
        painter_text(p, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

#define JAG_TEXT_PT 6.5

/* Paints the duration that a jag leaves out, above it. */
static void paint_jag_length(const struct painter *p, const struct scene_jag *jag, double above)
{
    char text[32];
    scene_duration(jag->ns, text, sizeof text);
    double width = text_cache_width(NULL, text, JAG_TEXT_PT, false),
           x = jag->x_pt + (jag->width_pt - width) / 2;
    painter_background(p);
    cairo_rectangle(p->cr, x - 2, above, width + 4, JAG_TEXT_PT * 1.4);
    cairo_fill(p->cr);
    painter_color(p, (struct target_color){0.5, 0.5, 0.5});
    painter_text(p, x, above, text, JAG_TEXT_PT, false);
}

/* Paints a jag: two jagged lines around a long interval without events, and its duration. */
static void paint_jag(const struct painter *p, const struct scene_jag *jag, double above,
                      double below)
{
    if (jag->x_pt > p->to || jag->x_pt + jag->width_pt < p->from)
        return;
    painter_background(p);
    cairo_rectangle(p->cr, jag->x_pt + 10, above, jag->width_pt - 20, below - above);
    cairo_fill(p->cr);
    painter_color(p, (struct target_color){0.5, 0.5, 0.5});
    cairo_set_line_width(p->cr, 0.8);
    for (int side = 0; side < 2; side++) {
        double x = jag->x_pt + (side ? jag->width_pt - 10 : 10);
        cairo_move_to(p->cr, x, above);
        for (double y = above; y < below; y += 8) {
            cairo_line_to(p->cr, x + 2.5, y + 2);
            cairo_line_to(p->cr, x - 2.5, y + 6);
        }
        cairo_stroke(p->cr);
    }
    paint_jag_length(p, jag, above);
}

static void paint_ruler(const struct painter *p)
{
    const struct scene *s = p->scene;
    painter_color(p, (struct target_color){0.4, 0.4, 0.4});
    cairo_set_line_width(p->cr, 0.6);
    for (uint32_t i = 0; i < s->tick_count; i++) {
        const struct scene_tick *t = &s->ticks[i];
        if (t->x_pt > p->to || t->x_pt + 80 < p->from)
            continue;
        cairo_move_to(p->cr, t->x_pt, s->top_pt - s->ruler_pt);
        cairo_line_to(p->cr, t->x_pt, s->top_pt);
        cairo_stroke(p->cr);
        painter_text(p, t->x_pt + 3, s->top_pt - s->ruler_pt + 1, t->text, SCENE_LABEL_PT, false);
    }
}

/* Paints a flag on a pole above the mark; in a vertical scene beside it. */
static void paint_flag(const struct painter *p, const struct scene_flag *f)
{
    static const struct target_color ground = {0.93, 0.26, 0.2};
    double width = text_cache_width(NULL, f->number, 6.5, true) + 5, high = 8.5;
    bool turned = p->scene->vertical;
    cairo_save(p->cr);
    if (turned)
        painter_rotate(p->cr);
    double x = turned ? f->y_pt : f->x_pt, y = turned ? f->x_pt : f->y_pt;
    painter_color(p, ground);
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x, y - HALF - 1);
    cairo_line_to(p->cr, x, y - HALF - 1 - high - 2);
    cairo_stroke(p->cr);
    x -= f->left ? width : 0;
    cairo_rectangle(p->cr, x, y - HALF - 3 - high, width, high);
    cairo_fill(p->cr);
    painter_background(p);
    text_cache_show(p->cr, x + 2.5, y - HALF - 3 - high, f->number, 6.5, true);
    cairo_restore(p->cr);
}

static void paint_flags(const struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->flag_count; i++) {
        const struct scene_flag *f = &p->scene->flags[i];
        if (painter_sees_row(p, f->row) && f->x_pt >= p->from - 40 && f->x_pt <= p->to + 10)
            paint_flag(p, f);
    }
}

static void paint_ground(const struct painter *p)
{
    const struct scene *s = p->scene;
    for (uint32_t i = p->part->first_row; i < p->part->last_row && i < s->row_count; i++) {
        if (p->theme->tint && i % 4 == 0) {
            cairo_set_source_rgba(p->cr, 0.2, 0.4, 0.8, p->theme->dark ? 0.16 : 0.06);
            cairo_rectangle(p->cr, p->from, s->rows[i].y_pt - s->line_pt, p->to - p->from,
                            s->row_pt);
            cairo_fill(p->cr);
        }
        if (!p->theme->hairlines)
            continue;
        painter_color(p, (struct target_color){0.8, 0.8, 0.8});
        cairo_set_line_width(p->cr, 0.25);
        cairo_move_to(p->cr, p->from, s->rows[i].y_pt);
        cairo_line_to(p->cr, p->to, s->rows[i].y_pt);
        cairo_stroke(p->cr);
    }
}

static void paint_columns(struct painter *p, const struct paint_selection *selection, double above,
                          double below)
{
    const struct scene *s = p->scene;
    struct batched_paths batch = {0};
    paint_ground(p);
    worker_row_scene_paint(p);
    p->batch = &batch;
    for (uint32_t i = 0; i < s->segment_count; i++)
        row_line_segment(p, &s->segments[i]);
    batched_paths_paint(&batch, p->cr);
    for (uint32_t i = 0; i < s->link_count; i++)
        row_line_link(p, &s->links[i]);
    batched_paths_paint(&batch, p->cr);
    for (uint32_t i = 0; i < s->jag_count; i++)
        paint_jag(p, &s->jags[i], above, below);
    for (uint32_t i = 0; i < s->gap_count; i++)
        row_line_gap(p, &s->gaps[i]);
    if (selection)
        relation_marks_chain(p, selection);
    if (selection)
        relation_marks_stuck(p, selection);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (painter_sees_row(p, m->row) && m->x_pt >= p->from - 10 && m->x_pt <= p->to + 10 &&
            relation_marks_enabled(selection, m))
            relation_marks_mark(p, m, selection);
    }
    batched_paths_paint(&batch, p->cr);
    batched_paths_free(&batch);
    p->batch = NULL;
    paint_texts(p);
    paint_flags(p);
}

static void paint_row_name(const struct painter *p, uint32_t row, double x0, double y)
{
    painter_color(p, p->scene->rows[row].color);
    double x = p->scene->vertical ? x0 : 8,
           up = p->scene->vertical ? p->scene->line_pt - 5 : SCENE_NAME_PT * 0.65;
    painter_text(p, x, y - up, p->scene->rows[row].label, SCENE_NAME_PT,
                 p->scene->rows[row].heading);
}

static void paint_row_names(const struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->row_count; i++)
        if (painter_sees_row(p, i))
            paint_row_name(p, i, p->scene->names_pt - SCENE_NAME_PT * 2, p->scene->rows[i].y_pt);
}

void scene_paint_name(cairo_t *cr, const struct scene *scene, uint32_t row,
                      const struct paint_theme *theme)
{
    struct painter p = {.cr = cr, .scene = scene, .theme = theme, .alpha = 1};
    paint_row_name(&p, row, 4, 0);
}

void scene_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                 const struct paint_part *part, const struct paint_selection *selection)
{
    struct painter p = {.cr = cr,
                        .scene = scene,
                        .theme = theme,
                        .part = part,
                        .from = part->from_pt,
                        .to = part->to_pt,
                        .alpha = 1};
    if (theme->names)
        paint_row_names(&p);
    double above =
        part->first_row < scene->row_count ? scene->rows[part->first_row].y_pt : scene->top_pt;
    double below = part->last_row ? scene->rows[part->last_row - 1].y_pt : scene->bottom_pt;
    above -= scene->line_pt;
    below += scene->row_pt - scene->line_pt;
    double ruler = scene->tick_count && part->first_row == 0 ? scene->ruler_pt : 0;
    p.above = above - ruler;
    p.below = below;
    cairo_save(cr);
    cairo_rectangle(cr, part->from_pt, above - ruler, part->to_pt - part->from_pt,
                    below - above + ruler);
    cairo_clip(cr);
    if (part->to_pt > part->from_pt)
        paint_columns(&p, selection, above, below);
    if (ruler)
        paint_ruler(&p);
    cairo_restore(cr);
    if (part->notes)
        legend_symbols_paint(&p);
}

/* ---- labels that move along their interval ---- */

#define EDGE_PT 3.0
#define LEAST_PT 40.0 /* minimum space; with less no label is painted */

/* Returns the text, cut to fit; the caller frees it. */
static char *sticky_labels_fitting_text(const struct scene_text *t, double room)
{
    size_t n = strlen(t->text);
    char *s = xmalloc(n + 4);
    memcpy(s, t->text, n + 1);
    while (n && text_cache_width(NULL, s, t->size_pt, t->bold) > room) {
        n--;
        while (n && (s[n] & 0xc0) == 0x80)
            n--;
        memcpy(s + n, "…", 4);
    }
    return s;
}

static void sticky_labels_paint_label(const struct painter *p, const struct scene_text *t)
{
    double edge = p->from + EDGE_PT, x = t->x_pt > edge ? t->x_pt : edge, room = t->until_pt - x;
    bool whole = x + t->width_pt <= t->until_pt || x == t->x_pt;
    if (!whole && (t->followed || room < LEAST_PT))
        return;
    char *fits = whole ? NULL : sticky_labels_fitting_text(t, room);
    painter_color(p, t->color);
    painter_text(p, x, t->y_pt, fits ? fits : t->text, t->size_pt, t->bold);
    free(fits);
}

void sticky_labels_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                         const struct paint_part *part)
{
    struct painter p = {.cr = cr,
                        .scene = scene,
                        .theme = theme,
                        .part = part,
                        .from = part->from_pt,
                        .to = part->to_pt,
                        .alpha = 1};
    if (part->last_row <= part->first_row)
        return;
    double above = scene->rows[part->first_row].y_pt - scene->row_pt,
           below = scene->rows[part->last_row - 1].y_pt;
    for (uint32_t i = 0; i < scene->text_count; i++) {
        const struct scene_text *t = &scene->texts[i];
        if (t->until_pt > part->from_pt && t->x_pt < part->to_pt && t->y_pt > above &&
            t->y_pt < below)
            sticky_labels_paint_label(&p, t);
    }
}
