#include "render/scene_paint.h"

#include "render/batched_paths.h"
#include "render/worker_row_scene.h"
#include "render/legend_symbols.h"
#include "render/text_cache.h"
#include "render/painter.h"
#include "render/relation_marks.h"
#include "render/row_lines.h"

static void paint_texts(const struct painter *p)
{
    const struct scene *s = p->scene;
    for (uint32_t i = 0; i < s->text_count; i++) {
        const struct scene_text *t = &s->texts[i];
        if (p->part->sticks && t->until_pt > 0)
            continue;
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
