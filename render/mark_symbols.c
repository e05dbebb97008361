/* Painting marks: their symbols, and highlights: relations of events to the selected one, causal
 * chains, deadlocks. */
#include "base/lower_bound.h"
#include "render/painter.h"

#define PI 3.14159265358979323846

static void mark_symbol_fill(const struct painter *p, enum target_shape shape, double x, double y,
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
    mark_symbol_fill(p, shape, x, y, HALF + 1.6); /* a halo, so that arrows pass behind the mark */
    painter_color(p, color);
    mark_symbol_fill(p, shape, x, y, HALF + 0.6);
    if (!filled) {
        painter_background(p);
        mark_symbol_fill(p, shape, x, y, HALF - 0.6);
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

/* ---- highlights ---- */

struct target_color relation_marks_paint(uint8_t relation)
{
    static const struct target_color past = {0, 0.45, 0.7}, future = {0.84, 0.37, 0},
                                     concurrent = {0.45, 0.45, 0.45}, same = {0.8, 0.47, 0.65},
                                     unknown = {0, 0.62, 0.45};
    return relation == RELATION_CODE(ORDER_BEFORE)    ? past
           : relation == RELATION_CODE(ORDER_AFTER)   ? future
           : relation == RELATION_CODE(ORDER_SAME)    ? same
           : relation == RELATION_CODE(ORDER_UNKNOWN) ? unknown
                                                      : concurrent;
}

void relation_marks_side(const struct painter *p, const struct scene_mark *m)
{
    uint8_t relation = m->event->to_selected;
    for (int side = -1; side <= 1; side += 2) {
        if (relation != RELATION_CODE(ORDER_UNKNOWN) &&
            relation != 1 + (side < 0 ? ORDER_BEFORE : ORDER_AFTER))
            continue;
        painter_color(p, relation_marks_paint(relation));
        cairo_rectangle(p->cr, m->x_pt + side * (HALF + 2.3) - 0.8, m->y_pt - HALF - 1.5, 1.6,
                        2 * HALF + 3);
        cairo_fill(p->cr);
    }
}

static bool relation_marks_is_among(const struct event_id *refs, size_t count, struct event_id at)
{
    size_t low = LOWER_BOUND(i, 0, count,
                             refs[i].line < at.line ||
                                 (refs[i].line == at.line && refs[i].number < at.number));
    return low < count && event_id_equal(refs[low], at);
}

bool relation_marks_enabled(const struct paint_selection *s, const struct scene_mark *m)
{
    switch (s && s->relations ? m->event->to_selected : 0) {
    case RELATION_CODE(ORDER_BEFORE):
        return s->past;
    case RELATION_CODE(ORDER_AFTER):
        return s->future;
    case RELATION_CODE(ORDER_CONCURRENT):
        return s->concurrent;
    default:
        return true;
    }
}

/* Marks a breakpoint at the mark's upper left, where neither arrows nor side bars are. */
static void mark_symbol_stop(const struct painter *p, const struct scene_mark *m)
{
    cairo_new_sub_path(p->cr);
    cairo_arc(p->cr, m->x_pt - HALF - 0.5, m->y_pt - HALF - 4.5, 3.2, 0, 2 * PI);
    painter_color(p, PAINTER_RED);
    cairo_fill_preserve(p->cr);
    cairo_set_source_rgb(p->cr, 1, 1, 1);
    cairo_set_line_width(p->cr, 0.8);
    cairo_stroke(p->cr);
}

void relation_marks_mark(struct painter *p, const struct scene_mark *m,
                         const struct paint_selection *s)
{
    bool colored = s && s->relations && m->event->to_selected && m->state == EVENT_ORDERED;
    struct target_color color = colored ? relation_marks_paint(m->event->to_selected) : m->color;
    bool back = colored ? m->event->to_selected == RELATION_CODE(ORDER_CONCURRENT)
                        : s && relation_marks_is_among(s->pale, s->pale_count, m->event->at);
    p->alpha = back ? 0.45 : 1;
    struct batched_paths *batch = p->batch;
    p->batch = m->state == EVENT_PENDING ? NULL : batch; /* its cross is not batched */
    mark_symbol_paint(p, m->shape, m->filled, color, m->state, m->x_pt, m->y_pt);
    if (m->undelivered)
        mark_symbol_strike(p, color, m->x_pt, m->y_pt);
    p->batch = batch;
    p->alpha = 1;
    if (!s)
        return;
    if (colored)
        relation_marks_side(p, m);
    if (relation_marks_is_among(s->found, s->found_count, m->event->at) ||
        relation_marks_is_among(s->marked, s->marked_count, m->event->at))
        mark_symbol_ring(p, m, HALF + 3, PAINTER_VIOLET);
    if (event_id_equal(m->event->at, s->selected) || event_id_equal(m->event->at, s->second))
        mark_symbol_ring(p, m, HALF + 4, PAINTER_AMBER);
    if (relation_marks_is_among(s->stops, s->stop_count, m->event->at))
        mark_symbol_stop(p, m);
}

static const struct scene_mark *relation_marks_find(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

void relation_marks_chain(const struct painter *p, const struct paint_selection *s)
{
    const struct scene_mark *before = NULL;
    for (size_t i = 0; i < s->chain_count; i++) {
        const struct scene_mark *m = relation_marks_find(p->scene, s->chain[i]);
        if (m && before) {
            cairo_move_to(p->cr, before->x_pt, before->y_pt);
            cairo_line_to(p->cr, m->x_pt, m->y_pt);
            cairo_set_source_rgba(p->cr, PAINTER_AMBER.red, PAINTER_AMBER.green, PAINTER_AMBER.blue,
                                  0.45);
            cairo_set_line_width(p->cr, 6);
            cairo_stroke(p->cr);
        }
        before = m ? m : before;
    }
}

void relation_marks_stuck(struct painter *p, const struct paint_selection *s)
{
    static const double dashes[] = {5, 3};
    for (size_t i = 0; i + 1 < s->stuck_count; i += 2) {
        const struct scene_mark *waits = relation_marks_find(p->scene, s->stuck[i]);
        const struct scene_mark *held = relation_marks_find(p->scene, s->stuck[i + 1]);
        if (waits)
            mark_symbol_ring(p, waits, HALF + 2, PAINTER_RED);
        if (!waits || !held)
            continue;
        cairo_move_to(p->cr, waits->x_pt, waits->y_pt);
        cairo_line_to(p->cr, held->x_pt, held->y_pt);
        painter_color(p, PAINTER_RED);
        cairo_set_line_width(p->cr, 1.4);
        cairo_set_dash(p->cr, dashes, 2, 0);
        cairo_stroke(p->cr);
        cairo_set_dash(p->cr, NULL, 0, 0);
    }
}
