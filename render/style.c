#include "render/style.h"

#include "render/state_chart.h"

#include <math.h>

#define HATCH_PT 3.5 /* distance of lines */

static const struct state_style {
    double red, green, blue, grey;
    bool hatched, hatched_in_grey;
} looks[CHART_STATES] = {[CHART_START] = {0.72, 0.72, 0.72, 0.85, false, false},
                         [CHART_READY] = {0.96, 0.83, 0.2, 0.97, false, true},
                         [CHART_RUNNING] = {0.2, 0.63, 0.29, 0.25, false, false},
                         [CHART_BLOCKED] = {0.82, 0.16, 0.16, 0.6, false, false},
                         [CHART_SYSTEM] = {0.95, 0.55, 0.1, 0.6, false, true},
                         [CHART_TERMINATE] = {0.72, 0.72, 0.72, 0.85, false, false},
                         [CHART_UNKNOWN] = {0.95, 0.85, 0.85, 0.9, true, true}};

static void style_hatch_state(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box)
{
    double v = grey ? 0.3 : 0.2, slope = state == CHART_READY ? 1 : -1;
    cairo_set_source_rgb(cr, grey ? v : 0.7, v, v);
    cairo_set_line_width(cr, 0.7);
    double first = floor((box.x - box.height) / HATCH_PT) * HATCH_PT;
    for (double x = first; x < box.x + box.width + box.height; x += HATCH_PT) {
        cairo_move_to(cr, x, box.y + box.height);
        cairo_line_to(cr, x + slope * box.height, box.y);
    }
    cairo_stroke(cr);
}

void style_fill(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box)
{
    const struct state_style *l = &looks[state];
    if (grey)
        cairo_set_source_rgb(cr, l->grey, l->grey, l->grey);
    else
        cairo_set_source_rgb(cr, l->red, l->green, l->blue);
    if (!l->hatched && !(grey && l->hatched_in_grey)) {
        cairo_fill(cr);
        return;
    }
    cairo_save(cr);
    cairo_fill_preserve(cr);
    cairo_clip(cr);
    style_hatch_state(cr, state, grey, box);
    cairo_restore(cr);
    cairo_new_path(cr);
}

void style_fill_work(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box)
{
    if (state != CHART_RUNNING) {
        style_fill(cr, state, grey, box);
        return;
    }
    cairo_set_source_rgb(cr, 0.5, grey ? 0.5 : 0.25, grey ? 0.5 : 0.6);
    cairo_fill(cr);
}
