#include "render/curves.h"

#include "base/alloc.h"
#include "render/drawing_file.h"
#include "render/text_cache.h"
#include "render/time_columns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN_PT 12.0
#define TITLE_PT 22.0
#define LEFT_PT 46.0   /* left of the plots, for their rulers */
#define WIDTH_PT 620.0 /* default width of the plots */
#define WIDTH_LEAST_PT 140.0
#define PANEL_PT 58.0 /* height of a plot; if there are few: */
#define PANEL_FEW_PT 110.0
#define HEAD_PT 16.0 /* height of a panel's name */
#define RULER_PT 18.0
#define WORD_PT 13.0 /* height of a line of the legend */
#define TICK_PT 100.0
#define TICK_NARROW_PT 48.0
#define BELOW_PT 10.0
#define BELOW_LETTERS_PT 7.5
#define BELOW_MOST 12u

struct curves_page {
    const struct curves *curves;
    double plot_pt, panel_pt, width_pt, height_pt;
    char *below[BELOW_MOST];
    unsigned below_count, words; /* words: lines of the legend */
    struct curve_look look;
};

static void set_ink(cairo_t *cr, const struct curves_page *d, double light)
{
    double v = d->look.dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

static double x_of(void *context, uint32_t pixel)
{
    const struct curves_page *d = context;
    return MARGIN_PT + LEFT_PT + d->plot_pt * pixel / d->curves->pixels;
}

/* ---- panels ---- */

static void paint_head(cairo_t *cr, const struct curves_page *d, const struct curve_panel *p,
                       const struct curve_ruler *r, double y)
{
    set_ink(cr, d, 0.1);
    text_cache_show(cr, MARGIN_PT + LEFT_PT, y, p->name, 9, true);
    if (!*r->unit)
        return;
    set_ink(cr, d, 0.35);
    text_cache_show(cr, MARGIN_PT + LEFT_PT + text_cache_width(NULL, p->name, 9, true) + 6, y + 0.5,
                    r->unit, 8.5, false);
}

static void paint_panel(cairo_t *cr, const struct curves_page *d, const struct curve_panel *p,
                        double y)
{
    struct curve_ruler r = curve_panel_ruler(p, d->panel_pt);
    cairo_rectangle_t box = {MARGIN_PT + LEFT_PT, y + HEAD_PT, d->plot_pt, d->panel_pt};
    paint_head(cr, d, p, &r, y);
    curve_panel_plot_ruler(cr, &r, box, d->look, 7.5);
    curve_panel_plot(cr, p, &r, box, x_of, (void *)(uintptr_t)d, d->look);
}

/* ---- time axis, legend and layout ---- */

static double step_height(const struct curves_page *d) { return HEAD_PT + d->panel_pt + 8; }

/* Paints the times below the last panel, and their grid lines through all panels. */
static void paint_times(cairo_t *cr, const struct curves_page *d, double top, double bottom)
{
    const struct curves *c = d->curves;
    double all = (double)(c->to_ns - c->from_ns), left = MARGIN_PT + LEFT_PT;
    double tick = fmin(TICK_PT, fmax(TICK_NARROW_PT, d->plot_pt / 6));
    int64_t step = time_columns_round((int64_t)(all * tick / d->plot_pt) + 1);
    for (int64_t at = (c->from_ns / step) * step; at <= c->to_ns; at += step) {
        char text[40];
        double x = left + (double)(at - c->from_ns) / all * d->plot_pt;
        if (at < c->from_ns)
            continue;
        time_columns_print(at, step, text, sizeof text);
        double wide = text_cache_width(NULL, text, 8, false);
        set_ink(cr, d, 0.88);
        cairo_rectangle(cr, x - 0.2, top, 0.4, bottom + 3 - top);
        cairo_fill(cr);
        set_ink(cr, d, 0.3);
        if (x + wide / 2 <= d->width_pt - 2)
            text_cache_show(cr, x - wide / 2, bottom + 4, text, 8, false);
    }
}

/* Paints the legend, or only counts its lines if `cr` is NULL. Returns their number. */
static unsigned curves_paint_legend(cairo_t *cr, const struct curves_page *d, double top)
{
    const struct curves *c = d->curves;
    double x = MARGIN_PT + LEFT_PT, y = 0;
    unsigned lines = c->name_count > 1;
    for (uint32_t i = 0; c->name_count > 1 && i < c->name_count; i++) {
        double wide = 24 + text_cache_width(NULL, c->names[i], 8.5, false);
        if (i && x + wide > d->width_pt - MARGIN_PT) {
            x = MARGIN_PT + LEFT_PT;
            y += WORD_PT;
            lines++;
        }
        if (cr) {
            curve_panel_sample(cr, i, x, top + y + 6, 18, d->look);
            set_ink(cr, d, 0.2);
            text_cache_show(cr, x + 23, top + y, c->names[i], 8.5, false);
        }
        x += wide + 16;
    }
    return lines;
}

static void curves_paint(void *context, cairo_t *cr)
{
    const struct curves_page *d = context;
    const struct curves *c = d->curves;
    double y = MARGIN_PT + TITLE_PT, bottom = y + c->panel_count * step_height(d) - 8;
    double wide = text_cache_width(NULL, c->title, 11, true), most = d->width_pt - 2 * MARGIN_PT;
    set_ink(cr, d, 0.1);
    text_cache_show(cr, MARGIN_PT, MARGIN_PT, c->title, wide > most ? 11 * most / wide : 11, true);
    paint_times(cr, d, y + HEAD_PT, bottom);
    for (uint32_t i = 0; i < c->panel_count; i++)
        paint_panel(cr, d, &c->panels[i], y + i * step_height(d));
    bottom += RULER_PT + 4;
    curves_paint_legend(cr, d, bottom);
    set_ink(cr, d, 0.35);
    for (unsigned i = 0; i < d->below_count; i++)
        text_cache_show(cr, MARGIN_PT + LEFT_PT, bottom + d->words * WORD_PT + i * BELOW_PT,
                        d->below[i], BELOW_LETTERS_PT, false);
}

/* ---- layout and writing ---- */

static double plot_width(const struct document_options *o)
{
    double plot = o->width_pt > 0 ? o->width_pt - LEFT_PT - 2 * MARGIN_PT : WIDTH_PT;
    return floor(fmin(fmax(plot, WIDTH_LEAST_PT), PAGE_LIMIT_PT));
}

uint32_t curves_pixels(const struct document_options *o) { return (uint32_t)(2 * plot_width(o)); }

static void lay_out(struct curves_page *d, const struct document_options *o)
{
    const struct curves *c = d->curves;
    d->plot_pt = plot_width(o);
    d->look.width = d->plot_pt;
    d->width_pt = d->plot_pt + LEFT_PT + 2 * MARGIN_PT;
    d->panel_pt = c->panel_count > 3 ? PANEL_PT : PANEL_FEW_PT;
    for (const char *t = c->below ? c->below : ""; *t && d->below_count < BELOW_MOST;) {
        size_t n = text_cache_line(t, d->plot_pt, BELOW_LETTERS_PT);
        d->below[d->below_count++] = xstrndup(t, n);
        t += n + (t[n] == ' ');
    }
    d->words = curves_paint_legend(NULL, d, 0);
    d->height_pt = 2 * MARGIN_PT + TITLE_PT + c->panel_count * step_height(d) - 8 + RULER_PT + 4 +
                   d->words * WORD_PT + d->below_count * BELOW_PT;
}

const char *curves_write(const struct curves *c, const struct document_options *o, const char *path)
{
    struct curves_page d = {.curves = c, .look = {.grey = o->theme.grey, .dark = o->theme.dark}};
    struct document_options options = *o;
    lay_out(&d, o);
    if (o->format == DOCUMENT_PNG && fabs(o->width_pt - d.width_pt) < 1)
        options.width_pt = 0; /* not scaled, so that its pixels are those of the curves */
    const char *why = drawing_file_write(
        &(struct drawing){
            .width_pt = d.width_pt, .height_pt = d.height_pt, .paint = curves_paint, .context = &d},
        &options, path);
    for (unsigned i = 0; i < d.below_count; i++)
        free(d.below[i]);
    text_cache_clear();
    return why;
}
