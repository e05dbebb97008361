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
    double from, to; /* x of the scene that is seen, */
    double above, below; /*   and y */
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

static const struct {
    double width, dashes[2]; /* 0: none */
} styles[] = {
    [STYLE_DASHED] = {1, {3.5, 2.5}}, [STYLE_THIN] = {0.6, {0}},       [STYLE_SOLID] = {1.8, {0}},
    [STYLE_AWAY] = {0.9, {0.9, 2.7}}, [STYLE_WAITS] = {1.7, {5, 2.5}}, [STYLE_END] = {1.8, {0}}};

/* A line, with others like it if there are to be any. */
static void draw_line(const struct painter *p, double x0, double y0, double x1, double y1,
                      double width, const double *dashes)
{
    struct batch one = {0}, *batch = p->batch ? p->batch : &one;
    batch_line(batch, p->cr, x0, y0, x1, y1, width, dashes[0], dashes[1]);
    if (batch != &one)
        return;
    batch_paint(&one, p->cr);
    batch_free(&one);
}

static void set_style(const struct painter *p, enum scene_style style)
{
    cairo_set_dash(p->cr, styles[style].dashes, styles[style].dashes[0] > 0 ? 2 : 0, 0);
    cairo_set_line_width(p->cr, styles[style].width);
}

/* Of a line that says that its thread is on another one there is less to see. */
static struct target_colour line_colour(enum scene_style style, struct target_colour c)
{
    if (style != STYLE_AWAY)
        return c;
    return (struct target_colour){1 - 0.62 * (1 - c.red), 1 - 0.62 * (1 - c.green),
                                  1 - 0.62 * (1 - c.blue)};
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
    const double *dashes = styles[s->style].dashes, width = styles[s->style].width;
    set_colour(p, line_colour(s->style, s->colour));
    draw_line(p, from, y, to, y, width, dashes);
    if (s->style == STYLE_END) /* and no further */
        draw_line(p, s->to_pt, y - 2.8, s->to_pt, y + 2.8, width, dashes);
}

static void paint_head(const struct painter *p, double x, double y, double dx, double dy,
                       double length)
{
    struct batch one = {0}, *batch = p->batch ? p->batch : &one;
    batch_head(batch, p->cr, x, y, dx, dy, length);
    if (batch != &one)
        return;
    batch_paint(&one, p->cr);
    batch_free(&one);
}

#define ORDER_HEAD_PT 3.4
#define ORDER_END_PT (HALF + 0.6)

/* Thin dots, and a small head: nothing makes room for it. */
static void paint_order(const struct painter *p, const struct scene_link *l)
{
    static const double dots[] = {0.1, 2.1};
    double dx = l->x1_pt - l->x0_pt, dy = l->y1_pt - l->y0_pt, length = hypot(dx, dy);
    dx /= length;
    dy /= length;
    double turn = l->bow_pt != 0 ? 0.5 : 0; /* the slope at the end of a bow, about */
    double hx = l->bow_pt != 0 ? 0.87 : dx, hy = l->bow_pt != 0 ? -turn : dy;
    double x1 = l->x1_pt - hx * ORDER_END_PT, y1 = l->y1_pt - hy * ORDER_END_PT;
    double tx = x1 - hx * ORDER_HEAD_PT, ty = y1 - hy * ORDER_HEAD_PT;
    set_colour(p, l->colour);
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

static void paint_link(const struct painter *p, const struct scene_link *l)
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
    set_colour(p, l->contradictory ? red : l->colour);
    static const double via[] = {2.5, 2.5}, solid[] = {0, 0};
    draw_line(p, l->x0_pt, l->y0_pt, x1, y1, l->kind == ARROW_GROUP ? 2.2 : 0.9,
              l->kind == ARROW_VIA ? via : solid);
    if (l->head)
        paint_head(p, x1, y1, dx, dy, HEAD_PT);
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

/* Who waits is ringed, and tied to the event by which what it waits for was taken. */
static void paint_stuck(struct painter *p, const struct paint_selection *s)
{
    static const double dashes[] = {5, 3};
    for (size_t i = 0; i + 1 < s->stuck_count; i += 2) {
        const struct scene_mark *waits = mark_at(p->scene, s->stuck[i]);
        const struct scene_mark *held = mark_at(p->scene, s->stuck[i + 1]);
        if (waits)
            ring(p, waits, HALF + 2, red);
        if (!waits || !held)
            continue;
        cairo_move_to(p->cr, waits->x_pt, waits->y_pt);
        cairo_line_to(p->cr, held->x_pt, held->y_pt);
        set_colour(p, red);
        cairo_set_line_width(p->cr, 1.4);
        cairo_set_dash(p->cr, dashes, 2, 0);
        cairo_stroke(p->cr);
        cairo_set_dash(p->cr, NULL, 0, 0);
    }
}

/* ---- columns ---- */

static void paint_texts(const struct painter *p)
{
    const struct scene *s = p->scene;
    for (uint32_t i = 0; i < s->text_count; i++) {
        const struct scene_text *t = &s->texts[i];
        if (t->x_pt > p->to || t->x_pt + (s->vertical ? t->height_pt : t->width_pt) < p->from ||
            t->y_pt > p->below || t->y_pt + (s->vertical ? t->width_pt : t->height_pt) < p->above)
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

/* On a pole above the mark, its number in it; beside the mark, where lines run down. */
static void paint_flag(const struct painter *p, const struct scene_flag *f)
{
    static const struct target_colour ground = {0.93, 0.26, 0.2};
    double width = lettering_width(NULL, f->number, 6.5, true) + 5, high = 8.5;
    bool turned = p->scene->vertical;
    cairo_save(p->cr);
    if (turned)
        paint_turn(p->cr);
    double x = turned ? f->y_pt : f->x_pt, y = turned ? f->x_pt : f->y_pt;
    set_colour(p, ground);
    cairo_set_line_width(p->cr, 1);
    cairo_move_to(p->cr, x, y - HALF - 1);
    cairo_line_to(p->cr, x, y - HALF - 1 - high - 2);
    cairo_stroke(p->cr);
    cairo_rectangle(p->cr, x, y - HALF - 3 - high, width, high);
    cairo_fill(p->cr);
    set_ground(p);
    lettering_show(p->cr, x + 2.5, y - HALF - 3 - high, f->number, 6.5, true);
    cairo_restore(p->cr);
}

static void paint_flags(const struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->flag_count; i++) {
        const struct scene_flag *f = &p->scene->flags[i];
        if (row_seen(p, f->row) && f->x_pt >= p->from - 40 && f->x_pt <= p->to + 10)
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
    if (selection)
        paint_stuck(p, selection);
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
    paint_flags(p);
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

/* An arrow of the legend, as they lie in the picture: across the rows, or from one to another. */
static void paint_key_arrow(const struct painter *p, const struct scene_key *k)
{
    bool across = k->arrow == ARROW_SYNC || k->arrow == ARROW_GROUP || k->arrow == ARROW_STUB;
    bool head = k->arrow != ARROW_GROUP && k->arrow != ARROW_CROSSING;
    double along = p->scene->vertical ? 5 : 9, aside = p->scene->vertical ? 9 : 5;
    double dx = across ? 0 : along, dy = across ? aside : aside * 0.6;
    struct painter all = *p; /* wherever the legend is */
    all.from = all.above = -1e9;
    all.to = all.below = 1e9;
    paint_link(&all, &(struct scene_link){.kind = k->arrow,
                                          .x0_pt = k->x_pt - dx,
                                          .y0_pt = k->y_pt - dy,
                                          .x1_pt = k->x_pt + dx * (head ? 1.4 : 1),
                                          .y1_pt = k->y_pt + dy * (head ? 1.6 : 1),
                                          .head = head,
                                          .colour = k->colour});
}

/* A line or an arrow of the legend, as long as there is room. */
static void paint_key_line(const struct painter *p, const struct scene_key *k)
{
    double dx = p->scene->vertical ? 0 : 9, dy = p->scene->vertical ? 9 : 0;
    if (k->symbol == KEY_ARROW) {
        paint_key_arrow(p, k);
        return;
    }
    set_colour(p, line_colour(k->style, k->colour));
    set_style(p, k->style);
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
    struct shown_event event = {.stands = k->stands};
    struct scene_mark m = {.x_pt = k->x_pt, .y_pt = k->y_pt, .event = &event};
    switch (k->symbol) {
    case KEY_MARK:
        paint_symbol(p, k->shape, k->filled, k->colour, k->state, k->x_pt, k->y_pt);
        break;
    case KEY_RING:
        ring(p, &m, HALF + 1.5, k->colour);
        break;
    case KEY_SIDE:
        p->alpha = k->stands == STANDS_AS(ORDER_CONCURRENT) ? 0.45 : 1;
        paint_symbol(p, SHAPE_CIRCLE, true, paint_standing(k->stands), EVENT_ORDERED, k->x_pt,
                     k->y_pt);
        p->alpha = 1;
        paint_side(p, &m);
        break;
    case KEY_NOTHING:
        break;
    default:
        paint_key_line(p, k);
    }
}

static void paint_notes(struct painter *p)
{
    for (uint32_t i = 0; i < p->scene->key_count; i++)
        paint_key(p, &p->scene->keys[i]);
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
        paint_notes(&p);
}
