#include "render/legend_symbols.h"

#include "render/relation_marks.h"
#include "render/row_lines.h"
#include "render/mark_symbols.h"

/* Paints an arrow of the legend in its direction in the diagram: across rows, or between them. */
static void paint_key_arrow(const struct painter *p, const struct scene_key *k)
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
static void paint_key_line(const struct painter *p, const struct scene_key *k)
{
    double dx = p->scene->vertical ? 0 : 9, dy = p->scene->vertical ? 9 : 0;
    if (k->symbol == KEY_ARROW) {
        paint_key_arrow(p, k);
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

static void paint_key(struct painter *p, const struct scene_key *k)
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
        paint_key_line(p, k);
    }
}

void legend_symbols_paint(struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->key_count; i++)
        paint_key(p, &p->scene->keys[i]);
    for (uint32_t i = 0; i < p->scene->note_count; i++) {
        const struct scene_text *t = &p->scene->notes[i];
        painter_color(p, t->color);
        painter_text(p, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}
