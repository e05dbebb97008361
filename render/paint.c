#include "render/paint.h"

#include "render/batch.h"
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
    double alpha;    /* below 1: what is drawn now steps back */
    struct batch *batch; /* of the shapes that are drawn now, or NULL: each is painted at once */
};

static const struct target_colour red = {0.75, 0, 0.1}, amber = {0.9, 0.62, 0},
                                  violet = {0.6, 0.2, 0.6};

void paint_turn(cairo_t *cr)
{
    cairo_matrix_t turn;
    cairo_matrix_init(&turn, 0, 1, 1, 0, 0, 0);
    cairo_transform(cr, &turn);
}

static void set_colour(const struct painter *p, struct target_colour c)
{
    double grey = 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue;
    if (p->theme->grey)
        c = (struct target_colour){grey * 0.6, grey * 0.6, grey * 0.6};
    if (p->theme->dark && fabs(c.red - c.green) < 0.05 && fabs(c.green - c.blue) < 0.05) {
        double v = 0.9 - 0.6 * grey; /* what was dark is light */
        c = (struct target_colour){v, v, v};
    } else if (p->theme->dark) { /* the same hue, light enough for a dark ground */
        c.red = 0.45 + 0.55 * c.red;
        c.green = 0.45 + 0.55 * c.green;
        c.blue = 0.45 + 0.55 * c.blue;
    }
    if (p->alpha < 1)
        cairo_set_source_rgba(p->cr, c.red, c.green, c.blue, p->alpha);
    else
        cairo_set_source_rgb(p->cr, c.red, c.green, c.blue);
}

/* Upright, whichever way the scene is drawn. */
static void show_text(const struct painter *p, double x, double y, const char *text, double size,
                      bool bold)
{
    if (!p->scene->vertical) {
        lettering_show(p->cr, x, y, text, size, bold);
        return;
    }
    cairo_save(p->cr);
    paint_turn(p->cr);
    lettering_show(p->cr, y, x, text, size, bold);
    cairo_restore(p->cr);
}

double paint_brightness(bool dark) { return dark ? 0.13 : 1; }

static void set_ground(const struct painter *p)
{
    double v = paint_brightness(p->theme->dark);
    cairo_set_source_rgb(p->cr, v, v, v);
}

void paint_background(cairo_t *cr, const struct paint_theme *theme)
{
    double v = paint_brightness(theme->dark);
    cairo_set_source_rgb(cr, v, v, v);
    cairo_paint(cr);
}

static bool row_seen(const struct painter *p, uint32_t row)
{
    return row >= p->part->first_row && row < p->part->last_row;
}

/* ---- symbols ---- */

/* A filled shape. */
static void fill_shape(const struct painter *p, enum target_shape shape, double x, double y,
                       double half)
{
    struct batch one = {0}, *batch = p->batch ? p->batch : &one;
    (shape == SHAPE_SQUARE ? batch_square : batch_circle)(batch, p->cr, x, y, half);
    if (batch != &one)
        return;
    batch_paint(&one, p->cr);
    batch_free(&one);
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
    set_colour(p, red);
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x - HALF - 2, y - HALF - 2);
    cairo_line_to(p->cr, x + HALF + 2, y + HALF + 2);
    cairo_move_to(p->cr, x - HALF - 2, y + HALF + 2);
    cairo_line_to(p->cr, x + HALF + 2, y - HALF - 2);
    cairo_stroke(p->cr);
}

static const double dashes[] = {3.5, 2.5};

static double style_width(enum scene_style style)
{
    return style == STYLE_SOLID ? 1.8 : style == STYLE_THIN ? 0.6 : 1;
}

static void set_style(const struct painter *p, enum scene_style style)
{
    cairo_set_dash(p->cr, dashes, style == STYLE_DASHED ? 2 : 0, 0);
    cairo_set_line_width(p->cr, style_width(style));
}

static void paint_segment(const struct painter *p, const struct scene_segment *s)
{
    double from = s->from_pt < p->from ? p->from : s->from_pt;
    double to = s->to_pt > p->to ? p->to : s->to_pt;
    if (to <= from || !row_seen(p, s->row))
        return;
    double y = p->scene->rows[s->row].y_pt;
    if (s->is_long) {
        set_colour(p, amber);
        cairo_rectangle(p->cr, from, y + 3.5, to - from, 2.5);
        cairo_fill(p->cr);
    }
    set_colour(p, s->colour);
    batch_line(p->batch, p->cr, from, y, to, y, style_width(s->style),
               s->style == STYLE_DASHED ? dashes[0] : 0, dashes[1]);
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
    set_colour(p, l->contradictory ? red : l->colour);
    batch_line(p->batch, p->cr, l->x0_pt, l->y0_pt, x1, y1, l->kind == ARROW_GROUP ? 2.2 : 0.9,
               l->kind == ARROW_VIA ? 2.5 : 0, 2.5);
    if (l->head)
        batch_head(p->batch, p->cr, x1, y1, dx, dy, HEAD_PT);
}

static void paint_gap(const struct painter *p, const struct scene_gap *gap)
{
    if (!row_seen(p, gap->row) || gap->x_pt < p->from || gap->x_pt > p->to)
        return;
    double y = p->scene->rows[gap->row].y_pt;
    set_ground(p);
    cairo_rectangle(p->cr, gap->x_pt - 4, y - 3, 8, 6);
    cairo_fill(p->cr);
    set_colour(p, red);
    cairo_set_line_width(p->cr, 1);
    for (int i = -1; i <= 1; i += 2) {
        cairo_move_to(p->cr, gap->x_pt + 3 * i - 1.5, y + 4);
        cairo_line_to(p->cr, gap->x_pt + 3 * i + 1.5, y - 4);
    }
    cairo_stroke(p->cr);
}

/* ---- what stands out ---- */

struct target_colour paint_standing(uint8_t stands)
{
    static const struct target_colour past = {0, 0.45, 0.7}, future = {0.84, 0.37, 0},
                                      concurrent = {0.45, 0.45, 0.45}, same = {0.8, 0.47, 0.65},
                                      unknown = {0, 0.62, 0.45};
    return stands == STANDS_AS(ORDER_BEFORE)    ? past
           : stands == STANDS_AS(ORDER_AFTER)   ? future
           : stands == STANDS_AS(ORDER_SAME)    ? same
           : stands == STANDS_AS(ORDER_UNKNOWN) ? unknown
                                                : concurrent;
}

static void ring(const struct painter *p, const struct scene_mark *m, double radius,
                 struct target_colour colour)
{
    cairo_new_sub_path(p->cr);
    cairo_arc(p->cr, m->x_pt, m->y_pt, radius, 0, 2 * PI);
    set_colour(p, colour);
    cairo_set_line_width(p->cr, 2);
    cairo_stroke(p->cr);
}

/* A bar on the side where the event stands, or on both where that is not known. */
static void paint_side(const struct painter *p, const struct scene_mark *m)
{
    uint8_t stands = m->event->stands;
    for (int side = -1; side <= 1; side += 2) {
        if (stands != STANDS_AS(ORDER_UNKNOWN) &&
            stands != 1 + (side < 0 ? ORDER_BEFORE : ORDER_AFTER))
            continue;
        set_colour(p, paint_standing(stands));
        cairo_rectangle(p->cr, m->x_pt + side * (HALF + 2.3) - 0.8, m->y_pt - HALF - 1.5, 1.6,
                        2 * HALF + 3);
        cairo_fill(p->cr);
    }
}

static bool is_found(const struct paint_selection *s, struct ref at)
{
    size_t low = 0, high = s->found_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct ref m = s->found[middle];
        if (m.line < at.line || (m.line == at.line && m.number < at.number))
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->found_count && ref_equal(s->found[low], at);
}

/* Is it to be painted at all? */
static bool wanted(const struct paint_selection *s, const struct scene_mark *m)
{
    switch (s && s->stands ? m->event->stands : 0) {
    case STANDS_AS(ORDER_BEFORE):
        return s->past;
    case STANDS_AS(ORDER_AFTER):
        return s->future;
    case STANDS_AS(ORDER_CONCURRENT):
        return s->concurrent;
    default:
        return true;
    }
}

static void paint_mark(struct painter *p, const struct scene_mark *m,
                       const struct paint_selection *s)
{
    bool stands = s && s->stands && m->event->stands && m->state == EVENT_ORDERED;
    struct target_colour colour = stands ? paint_standing(m->event->stands) : m->colour;
    p->alpha = stands && m->event->stands == STANDS_AS(ORDER_CONCURRENT) ? 0.45 : 1;
    struct batch *batch = p->batch;
    p->batch = m->state == EVENT_PENDING ? NULL : batch; /* it is crossed out */
    paint_symbol(p, m->shape, m->filled, colour, m->state, m->x_pt, m->y_pt);
    p->batch = batch;
    p->alpha = 1;
    if (!s)
        return;
    if (stands)
        paint_side(p, m);
    if (s->found_count && is_found(s, m->event->at))
        ring(p, m, HALF + 3, violet);
    if (ref_equal(m->event->at, s->selected) || ref_equal(m->event->at, s->second))
        ring(p, m, HALF + 4, amber);
}

static const struct scene_mark *mark_at(const struct scene *scene, struct ref at)
{
    for (uint32_t i = 0; i < scene->mark_count; i++)
        if (ref_equal(scene->marks[i].event->at, at))
            return &scene->marks[i];
    return NULL;
}

/* A broad band along the chain, as far as its events are in the picture. */
static void paint_chain(const struct painter *p, const struct paint_selection *s)
{
    const struct scene_mark *before = NULL;
    for (size_t i = 0; i < s->chain_count; i++) {
        const struct scene_mark *m = mark_at(p->scene, s->chain[i]);
        if (m && before) {
            cairo_move_to(p->cr, before->x_pt, before->y_pt);
            cairo_line_to(p->cr, m->x_pt, m->y_pt);
            cairo_set_source_rgba(p->cr, amber.red, amber.green, amber.blue, 0.45);
            cairo_set_line_width(p->cr, 6);
            cairo_stroke(p->cr);
        }
        before = m ? m : before;
    }
}

/* ---- columns ---- */

static void paint_texts(const struct painter *p)
{
    const struct scene *s = p->scene;
    for (uint32_t i = 0; i < s->text_count; i++) {
        const struct scene_text *t = &s->texts[i];
        if (t->x_pt > p->to || t->x_pt + (s->vertical ? t->height_pt : t->width_pt) < p->from)
            continue;
        set_colour(p, t->colour);
        show_text(p, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

/* A stretch of time that is left out: two jagged lines, and how long it was. */
static void paint_jag(const struct painter *p, const struct scene_jag *jag, double above,
                      double below)
{
    char text[32];
    if (jag->x_pt > p->to || jag->x_pt + jag->width_pt < p->from)
        return;
    set_ground(p);
    cairo_rectangle(p->cr, jag->x_pt + 10, above, jag->width_pt - 20, below - above);
    cairo_fill(p->cr);
    set_colour(p, (struct target_colour){0.5, 0.5, 0.5});
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
    scene_duration(jag->ns, text, sizeof text);
    double width = lettering_width(NULL, text, 6.5, false);
    show_text(p, jag->x_pt + (jag->width_pt - width) / 2, above, text, 6.5, false);
}

static void paint_ruler(const struct painter *p)
{
    const struct scene *s = p->scene;
    set_colour(p, (struct target_colour){0.4, 0.4, 0.4});
    cairo_set_line_width(p->cr, 0.6);
    for (uint32_t i = 0; i < s->tick_count; i++) {
        const struct scene_tick *t = &s->ticks[i];
        if (t->x_pt > p->to || t->x_pt + 80 < p->from)
            continue;
        cairo_move_to(p->cr, t->x_pt, s->top_pt - s->ruler_pt);
        cairo_line_to(p->cr, t->x_pt, s->top_pt);
        cairo_stroke(p->cr);
        show_text(p, t->x_pt + 3, s->top_pt - s->ruler_pt + 1, t->text, SCENE_LABEL_PT, false);
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
        set_colour(p, (struct target_colour){0.8, 0.8, 0.8});
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
    struct batch batch = {0};
    paint_ground(p);
    p->batch = &batch;
    for (uint32_t i = 0; i < s->segment_count; i++)
        paint_segment(p, &s->segments[i]);
    batch_paint(&batch, p->cr);
    for (uint32_t i = 0; i < s->link_count; i++)
        paint_link(p, &s->links[i]);
    batch_paint(&batch, p->cr);
    for (uint32_t i = 0; i < s->jag_count; i++)
        paint_jag(p, &s->jags[i], above, below);
    for (uint32_t i = 0; i < s->gap_count; i++)
        paint_gap(p, &s->gaps[i]);
    if (selection)
        paint_chain(p, selection);
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        if (row_seen(p, m->row) && m->x_pt >= p->from - 10 && m->x_pt <= p->to + 10 &&
            wanted(selection, m))
            paint_mark(p, m, selection);
    }
    batch_paint(&batch, p->cr);
    batch_free(&batch);
    p->batch = NULL;
    paint_texts(p);
}

static void paint_row_name(const struct painter *p, uint32_t row, double x0, double y)
{
    set_colour(p, p->scene->rows[row].colour);
    double x = p->scene->vertical ? x0 : 8,
           up = p->scene->vertical ? p->scene->line_pt - 5 : SCENE_NAME_PT * 0.65;
    show_text(p, x, y - up, p->scene->rows[row].label, SCENE_NAME_PT, false);
}

static void paint_row_names(const struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->row_count; i++)
        if (row_seen(p, i))
            paint_row_name(p, i, p->scene->names_pt - SCENE_NAME_PT * 2, p->scene->rows[i].y_pt);
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
        double dx = p->scene->vertical ? 0 : 9, dy = p->scene->vertical ? 9 : 0;
        cairo_move_to(p->cr, k->x_pt - dx, k->y_pt - dy);
        cairo_line_to(p->cr, k->x_pt + dx, k->y_pt + dy);
        cairo_stroke(p->cr);
        cairo_set_dash(p->cr, NULL, 0, 0);
    }
    for (uint32_t i = 0; i < p->scene->note_count; i++) {
        const struct scene_text *t = &p->scene->notes[i];
        set_colour(p, t->colour);
        show_text(p, t->x_pt, t->y_pt, t->text, t->size_pt, t->bold);
    }
}

void paint_name(cairo_t *cr, const struct scene *scene, uint32_t row,
                const struct paint_theme *theme)
{
    struct painter p = {.cr = cr, .scene = scene, .theme = theme, .alpha = 1};
    paint_row_name(&p, row, 4, 0);
}

void paint_scene(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
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
    cairo_save(cr);
    cairo_rectangle(cr, part->from_pt, above - ruler, part->to_pt - part->from_pt,
                    below - above + ruler);
    cairo_clip(cr);
    paint_columns(&p, selection, above, below);
    if (ruler)
        paint_ruler(&p);
    cairo_restore(cr);
    if (part->notes)
        paint_notes(&p);
}
