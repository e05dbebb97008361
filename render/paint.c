#include "render/paint.h"

#include "render/lettering.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define HALF (SCENE_MARK_PT / 2)
#define HEAD_PT 5.0

struct painter {
    cairo_t *cr;
    const struct scene *scene;
    const struct paint_theme *theme;
    const struct paint_part *part;
    double from, to; /* x of the scene that is seen */
};

static void set_colour(const struct painter *p, struct target_colour c)
{
    double grey = 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue;
    if (p->theme->grey)
        c = (struct target_colour){grey * 0.6, grey * 0.6, grey * 0.6};
    if (p->theme->dark) { /* the same hue, light enough for a dark ground */
        c.red = 0.45 + 0.55 * c.red;
        c.green = 0.45 + 0.55 * c.green;
        c.blue = 0.45 + 0.55 * c.blue;
    }
    cairo_set_source_rgb(p->cr, c.red, c.green, c.blue);
}

static void set_ground(const struct painter *p)
{
    double v = p->theme->dark ? 0.13 : 1;
    cairo_set_source_rgb(p->cr, v, v, v);
}

void paint_background(cairo_t *cr, const struct paint_theme *theme)
{
    double v = theme->dark ? 0.13 : 1;
    cairo_set_source_rgb(cr, v, v, v);
    cairo_paint(cr);
}

static bool row_seen(const struct painter *p, uint32_t row)
{
    return row >= p->part->first_row && row < p->part->last_row;
}

/* ---- symbols ---- */

/* A filled shape.  A circle is a point drawn with a round pen: one stroke, where an arc is
 * four curves. */
static void fill_shape(const struct painter *p, enum target_shape shape, double x, double y, double half)
{
    if (shape == SHAPE_SQUARE) {
        cairo_rectangle(p->cr, x - half, y - half, 2 * half, 2 * half);
        cairo_fill(p->cr);
        return;
    }
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(p->cr, 2 * half);
    cairo_move_to(p->cr, x, y);
    cairo_line_to(p->cr, x, y);
    cairo_stroke(p->cr);
    cairo_set_line_cap(p->cr, CAIRO_LINE_CAP_BUTT);
}

static void paint_symbol(const struct painter *p, enum target_shape shape, bool filled,
                         struct target_colour colour, enum event_state state, double x, double y)
{
    if (shape == SHAPE_NONE)
        return;
    set_ground(p);
    fill_shape(p, shape, x, y, HALF + 1.6); /* a halo: arrows pass behind */
    set_colour(p, colour);
    fill_shape(p, shape, x, y, HALF + 0.6);
    if (!filled) {
        set_ground(p);
        fill_shape(p, shape, x, y, HALF - 0.6);
        set_colour(p, colour);
    }
    if (state != EVENT_PENDING)
        return;
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x - HALF - 2, y - HALF - 2);
    cairo_line_to(p->cr, x + HALF + 2, y + HALF + 2);
    cairo_move_to(p->cr, x - HALF - 2, y + HALF + 2);
    cairo_line_to(p->cr, x + HALF + 2, y - HALF - 2);
    cairo_stroke(p->cr);
}

static void set_style(const struct painter *p, enum scene_style style)
{
    static const double dashes[] = {3.5, 2.5};
    cairo_set_dash(p->cr, dashes, style == STYLE_DASHED ? 2 : 0, 0);
    cairo_set_line_width(p->cr, style == STYLE_SOLID ? 1.8 : style == STYLE_THIN ? 0.6 : 1);
}

static void paint_segment(const struct painter *p, const struct scene_segment *s)
{
    double from = s->from_pt < p->from ? p->from : s->from_pt;
    double to = s->to_pt > p->to ? p->to : s->to_pt;
    if (to <= from || !row_seen(p, s->row))
        return;
    double y = p->scene->rows[s->row].y_pt;
    set_colour(p, s->colour);
    set_style(p, s->style);
    cairo_move_to(p->cr, from, y);
    cairo_line_to(p->cr, to, y);
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
}

static void paint_link(const struct painter *p, const struct scene_link *l)
{
    double left = fmin(l->x0_pt, l->x1_pt), right = fmax(l->x0_pt, l->x1_pt);
    if (right < p->from || left > p->to)
        return;
    double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt, length = hypot(dx, dy);
    if (length < 1)
        return;
    dx /= length;
    dy /= length;
    double end = l->head ? HALF + 1.2 : 0;
    double x1 = l->x1_pt - dx * end, y1 = l->y1_pt - dy * end;
    set_colour(p, l->contradictory ? (struct target_colour){0.75, 0, 0.1} : l->colour);
    cairo_set_line_width(p->cr, l->kind == ARROW_GROUP ? 2.2 : 0.9);
    cairo_move_to(p->cr, l->x0_pt, l->y0_pt);
    cairo_line_to(p->cr, x1, y1);
    cairo_stroke(p->cr);
    if (!l->head)
        return;
    cairo_move_to(p->cr, x1, y1);
    cairo_line_to(p->cr, x1 - dx * HEAD_PT - dy * 2.4, y1 - dy * HEAD_PT + dx * 2.4);
    cairo_line_to(p->cr, x1 - dx * HEAD_PT + dy * 2.4, y1 - dy * HEAD_PT - dx * 2.4);
    cairo_close_path(p->cr);
    cairo_fill(p->cr);
}

static void paint_gap(const struct painter *p, const struct scene_gap *gap)
{
    if (!row_seen(p, gap->row) || gap->x_pt < p->from || gap->x_pt > p->to)
        return;
    double y = p->scene->rows[gap->row].y_pt;
    set_ground(p);
    cairo_rectangle(p->cr, gap->x_pt - 4, y - 3, 8, 6);
    cairo_fill(p->cr);
    set_colour(p, (struct target_colour){0.75, 0, 0.1});
    cairo_set_line_width(p->cr, 1);
    for (int i = -1; i <= 1; i += 2) {
        cairo_move_to(p->cr, gap->x_pt + 3 * i - 1.5, y + 4);
        cairo_line_to(p->cr, gap->x_pt + 3 * i + 1.5, y - 4);
    }
    cairo_stroke(p->cr);
}

static void paint_selected(const struct painter *p, const struct scene_mark *m)
{
    cairo_new_sub_path(p->cr);
    cairo_arc(p->cr, m->x_pt, m->y_pt, HALF + 4, 0, 2 * PI);
    cairo_set_source_rgb(p->cr, 0.95, 0.55, 0);
    cairo_set_line_width(p->cr, 2);
    cairo_stroke(p->cr);
}

static void paint_columns(struct painter *p, const struct paint_selection *selection)
{
    const struct scene *s = p->scene;
    for (uint32_t i = 0; i < s->segment_count; i++)
        paint_segment(p, &s->segments[i]);
    for (uint32_t i = 0; i < s->link_count; i++)
        paint_link(p, &s->links[i]);
    for (uint32_t i = 0; i < s->gap_count; i++)
        paint_gap(p, &s->gaps[i]);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (!row_seen(p, m->row) || m->x_pt < p->from - 10 || m->x_pt > p->to + 10)
            continue;
        paint_symbol(p, m->shape, m->filled, m->colour, m->state, m->x_pt, m->y_pt);
        if (selection && ref_equal(m->event->at, selection->selected))
            paint_selected(p, m);
    }
    for (uint32_t i = 0; i < s->text_count; i++) {
        const struct scene_text *t = &s->texts[i];
        if (t->x_pt > p->to || t->x_pt + t->width_pt < p->from)
            continue;
        set_colour(p, t->colour);
        lettering_show(p->cr, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

static void paint_row_names(struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->row_count; i++) {
        if (!row_seen(p, i))
            continue;
        set_colour(p, p->scene->rows[i].colour);
        lettering_show(p->cr, 8, p->scene->rows[i].y_pt - SCENE_NAME_PT * 0.65, p->scene->rows[i].label,
                  SCENE_NAME_PT, false);
    }
}

static void paint_notes(struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->key_count; i++) {
        const struct scene_key *k = &p->scene->keys[i];
        if (k->shape != SHAPE_NONE) {
            paint_symbol(p, k->shape, k->filled, k->colour, k->state, k->x_pt, k->y_pt);
            continue;
        }
        set_colour(p, k->colour);
        set_style(p, k->style);
        cairo_move_to(p->cr, k->x_pt - 9, k->y_pt);
        cairo_line_to(p->cr, k->x_pt + 9, k->y_pt);
        cairo_stroke(p->cr);
        cairo_set_dash(p->cr, NULL, 0, 0);
    }
    for (uint32_t i = 0; i < p->scene->note_count; i++) {
        const struct scene_text *t = &p->scene->notes[i];
        set_colour(p, t->colour);
        lettering_show(p->cr, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

void paint_names(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme)
{
    struct paint_part part = {.last_row = scene->row_count};
    struct painter p = {.cr = cr, .scene = scene, .theme = theme, .part = &part};
    paint_row_names(&p);
}

void paint_scene(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                 const struct paint_part *part, const struct paint_selection *selection)
{
    struct painter p = {.cr = cr, .scene = scene, .theme = theme, .part = part,
                        .from = part->from_pt, .to = part->to_pt};
    if (theme->names)
        paint_row_names(&p);
    double above = part->first_row < scene->row_count ? scene->rows[part->first_row].y_pt
                                                      : scene->top_pt;
    double below = part->last_row ? scene->rows[part->last_row - 1].y_pt : scene->bottom_pt;
    cairo_save(cr);
    cairo_rectangle(cr, part->from_pt, above - SCENE_ROW_PT / 2, part->to_pt - part->from_pt,
                    below - above + SCENE_ROW_PT);
    cairo_clip(cr);
    paint_columns(&p, selection);
    cairo_restore(cr);
    if (part->notes)
        paint_notes(&p);
}
