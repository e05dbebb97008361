#include "render/relation_marks.h"

#include "render/mark_symbols.h"

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

static bool is_among(const struct event_id *refs, size_t count, struct event_id at)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct event_id m = refs[middle];
        if (m.line < at.line || (m.line == at.line && m.number < at.number))
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && event_id_equal(refs[low], at);
}

/* Is the mark painted under this selection? */
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

void relation_marks_mark(struct painter *p, const struct scene_mark *m,
                         const struct paint_selection *s)
{
    bool colored = s && s->relations && m->event->to_selected && m->state == EVENT_ORDERED;
    struct target_color color = colored ? relation_marks_paint(m->event->to_selected) : m->color;
    bool back = colored ? m->event->to_selected == RELATION_CODE(ORDER_CONCURRENT)
                        : s && is_among(s->pale, s->pale_count, m->event->at);
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
    if (is_among(s->found, s->found_count, m->event->at) ||
        is_among(s->marked, s->marked_count, m->event->at))
        mark_symbol_ring(p, m, HALF + 3, PAINTER_VIOLET);
    if (event_id_equal(m->event->at, s->selected) || event_id_equal(m->event->at, s->second))
        mark_symbol_ring(p, m, HALF + 4, PAINTER_AMBER);
    if (is_among(s->stops, s->stop_count, m->event->at))
        mark_symbol_stop(p, m);
}

static const struct scene_mark *mark_at(const struct scene *scene, struct event_id at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (event_id_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

/* Paints a broad band along the causal chain, through those of its events that have marks. */
void relation_marks_chain(const struct painter *p, const struct paint_selection *s)
{
    const struct scene_mark *before = NULL;
    for (size_t i = 0; i < s->chain_count; i++) {
        const struct scene_mark *m = mark_at(p->scene, s->chain[i]);
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

/* Rings the events by which threads wait in a deadlock, and links each to the event by which the
 * object was acquired that it waits for. */
void relation_marks_stuck(struct painter *p, const struct paint_selection *s)
{
    static const double dashes[] = {5, 3};
    for (size_t i = 0; i + 1 < s->stuck_count; i += 2) {
        const struct scene_mark *waits = mark_at(p->scene, s->stuck[i]);
        const struct scene_mark *held = mark_at(p->scene, s->stuck[i + 1]);
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
