#include "render/curves.h"

#include "base/alloc.h"
#include "base/units.h"
#include "render/scene_times.h"
#include "render/text_cache.h"

#include <math.h>
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

static double curves_x_of(void *context, uint32_t pixel)
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
    curve_panel_plot(cr, p, &r, box, curves_x_of, (void *)(uintptr_t)d, d->look);
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

bool curves_write(const struct curves *c, const struct document_options *o, const char *path,
                  const char **why)
{
    struct curves_page d = {.curves = c, .look = {.grey = o->theme.grey, .dark = o->theme.dark}};
    struct document_options options = *o;
    lay_out(&d, o);
    if (o->format == DOCUMENT_PNG && fabs(o->width_pt - d.width_pt) < 1)
        options.width_pt = 0; /* not scaled, so that its pixels are those of the curves */
    bool written = document_write_drawing(
        &(struct drawing){
            .width_pt = d.width_pt, .height_pt = d.height_pt, .paint = curves_paint, .context = &d},
        &options, path, why);
    for (unsigned i = 0; i < d.below_count; i++)
        free(d.below[i]);
    text_cache_clear();
    return written;
}

/* ---- as text ---- */

/* A line per process or thread of a panel, scaled to the panel's highest value. */

#define TEXT_NAMES 22u /* characters */
#define TEXT_LEAST 20u

unsigned curve_text_width(unsigned width)
{
    return width > TEXT_NAMES + 2 + TEXT_LEAST ? width - TEXT_NAMES - 2 : TEXT_LEAST;
}

static const char *curve_text_level_character(double share, bool ascii)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
    int level = (int)(share * 7.999);
    level = level < 0 ? 0 : level > 7 ? 7 : level;
    return ascii ? letters[level] : blocks[level];
}

static void curve_text_print_line(const struct curve_panel *p, const struct curve_ruler *r,
                                  const struct curve_line *l, bool ascii, FILE *f)
{
    fprintf(f, "%-*.*s  ", (int)TEXT_NAMES, (int)TEXT_NAMES, l->name);
    for (uint32_t i = 0; i < p->pixels; i++) {
        double value = curve_panel_shown(r, l, l->pixels[i].mean);
        fputs(l->pixels[i].known == SERIES_NOTHING
                  ? " "
                  : curve_text_level_character((value - r->low) / (r->high - r->low), ascii),
              f);
    }
    fputc('\n', f);
}

void curve_text_print(const struct curves *c, bool ascii, FILE *f)
{
    char from[40], to[40];
    time_columns_print(c->from_ns, 1, from, sizeof from);
    time_columns_print(c->to_ns, 1, to, sizeof to);
    fprintf(f, "%s\nfrom %s to %s\n", c->title, from, to);
    for (uint32_t i = 0; i < c->panel_count; i++) {
        const struct curve_panel *p = &c->panels[i];
        struct curve_ruler r = curve_panel_ruler(p, 36);
        char low[60], high[60];
        curve_panel_value(&r, r.low, low, sizeof low);
        curve_panel_value(&r, r.high, high, sizeof high);
        fprintf(f, "\n%s, from %s to %s\n", p->name, low, high);
        for (uint32_t k = 0; k < p->line_count; k++)
            curve_text_print_line(p, &r, &p->lines[k], ascii, f);
    }
    if (c->below)
        fprintf(f, "\nnote: %s\n", c->below);
}

#define RULER_TICK_PT 18.0 /* minimum distance of ticks */
#define DOT_PT 9.0   /* minimum average distance of recorded values that are marked by dots */

/* ---- rulers ---- */

static double curve_panel_value_bound(const struct curve_panel *p, bool most)
{
    double bound = 0;
    for (uint32_t i = 0; i < p->line_count; i++) {
        const struct curve_line *l = &p->lines[i];
        for (uint32_t k = 0; k < p->pixels; k++) {
            double value =
                (double)(most ? l->pixels[k].most : l->pixels[k].least) / (double)l->scale;
            if (l->pixels[k].known != SERIES_NOTHING && (most ? value > bound : value < bound))
                bound = value;
        }
    }
    return bound;
}

/* Returns 1, 2, 5 or 10 times a power of ten, at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    static const double times[] = {1, 2, 5, 10};
    for (unsigned i = 0; i < 4; i++)
        if (times[i] * power >= least * 0.9999)
            return times[i] * power;
    return 10 * power;
}

static void set_bytes(struct curve_ruler *r, double most, bool grows)
{
    struct byte_unit unit = byte_unit_for(most, 1024);
    r->per = unit.bytes;
    snprintf(r->unit, sizeof r->unit, "%s%s", unit.name, grows ? "/s" : "");
}

static void set_time(struct curve_ruler *r, double most, const struct curve_panel *p)
{
    if (p->grows) { /* one second per second is one CPU, or one thread */
        r->per = 1e9;
        snprintf(r->unit, sizeof r->unit, "%s",
                 strncmp(p->name, "cpu", 3) == 0 ? "processors" : "threads");
        return;
    }
    struct time_unit unit = time_unit_for((int64_t)fmin(most, (double)INT64_MAX / 2));
    r->per = (double)unit.ns;
    snprintf(r->unit, sizeof r->unit, "%s", unit.name);
}

struct curve_ruler curve_panel_ruler(const struct curve_panel *p, double height_pt)
{
    struct curve_ruler r = {.per = 1};
    double low = curve_panel_value_bound(p, false), high = curve_panel_value_bound(p, true),
           most = fmax(high, -low);
    if (strcmp(p->unit, "bytes") == 0)
        set_bytes(&r, most, p->grows);
    else if (strcmp(p->unit, "ns") == 0)
        set_time(&r, most, p);
    else
        snprintf(r.unit, sizeof r.unit, "%.24s%s", p->unit,
                 !p->grows  ? ""
                 : *p->unit ? "/s"
                            : "per second");
    double span = fmax(high - low, 0) / r.per;
    if (!(span > 0))
        span = 1;
    r.step = round_step(span / fmax(1, floor(height_pt / RULER_TICK_PT)));
    r.low = floor(low / r.per / r.step + 1e-9) * r.step;
    r.high = ceil(high / r.per / r.step - 1e-9) * r.step;
    if (r.high <= r.low)
        r.high = r.low + r.step;
    return r;
}

double curve_panel_shown(const struct curve_ruler *r, const struct curve_line *l, int64_t value)
{
    return (double)value / (double)l->scale / r->per;
}

/* Formats the value of a tick: "48", "0.5". */
static void curve_panel_tick(const struct curve_ruler *r, double value, char *text, size_t size)
{
    int digits = r->step >= 1 ? 0 : (int)ceil(-log10(r->step) - 1e-9);
    if (fabs(value) >= 1e6)
        snprintf(text, size, "%.4g", value);
    else
        snprintf(text, size, "%.*f", digits, value + 0.0);
}

void curve_panel_value(const struct curve_ruler *r, double value, char *text, size_t size)
{
    snprintf(text, size, "%.*f%s%s",
             fabs(value) >= 100 || value == floor(value) ? 0
             : fabs(value) >= 1                          ? 1
                                                         : 3,
             value, *r->unit ? " " : "", r->unit);
}

/* ---- line styles ---- */

/* Sets color or dashes of a line; the palette is that of Okabe and Ito (2008). */
static void set_line(cairo_t *cr, unsigned number, struct curve_look look, double alpha)
{
    static const double colors[CURVE_LOOKS][3] = {
        {0.000, 0.447, 0.698}, {0.835, 0.369, 0.000}, {0.000, 0.620, 0.451}, {0.800, 0.475, 0.655},
        {0.902, 0.624, 0.000}, {0.337, 0.706, 0.914}, {0.450, 0.450, 0.450}};
    static const double dashes[CURVE_LOOKS][4] = {{0},    {5, 2}, {1.5, 1.5}, {7, 2, 1.5, 2},
                                                  {3, 3}, {9, 3}, {1, 3}};
    static const int counts[CURVE_LOOKS] = {0, 2, 2, 4, 2, 2, 2};
    double ink = look.dark ? 0.9 : 0.1, pale = look.dark ? 0.45 : 0.7;
    cairo_set_dash(cr, NULL, 0, 0);
    if (number >= CURVE_LOOKS) {
        cairo_set_source_rgba(cr, pale, pale, pale, alpha);
        return;
    }
    if (!look.grey) {
        const double *c = colors[number];
        cairo_set_source_rgba(cr, c[0], c[1], c[2], alpha);
        return;
    }
    cairo_set_source_rgba(cr, ink, ink, ink, alpha * (number % 2 ? 0.75 : 1));
    if (alpha == 1)
        cairo_set_dash(cr, dashes[number], counts[number], 0);
}

void curve_panel_sample(cairo_t *cr, unsigned number, double x, double y, double width,
                        struct curve_look look)
{
    set_line(cr, number, look, 1);
    cairo_set_line_width(cr, number < CURVE_LOOKS ? 1.3 : 0.7);
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + width, y);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* ---- plotting a line ---- */

struct curve_plot_state {
    cairo_t *cr;
    const struct curve_panel *panel;
    const struct curve_ruler *ruler;
    cairo_rectangle_t box;
    double (*x_of)(void *context, uint32_t pixel);
    void *context;
    struct curve_look look;
};

static double y_of(const struct curve_plot_state *p, const struct curve_line *l, int64_t value)
{
    double share =
        (curve_panel_shown(p->ruler, l, value) - p->ruler->low) / (p->ruler->high - p->ruler->low);
    return p->box.y + p->box.height * (1 - fmin(fmax(share, 0), 1));
}

/* Returns the end of the run of pixels that look like the i-th. */
static uint32_t curve_panel_equal_pixel_run(const struct curve_line *l, uint32_t i, uint32_t pixels)
{
    const struct series_pixel *a = &l->pixels[i];
    uint32_t end = i + 1;
    while (end < pixels && !l->pixels[end].known == !a->known && l->pixels[end].mean == a->mean &&
           l->pixels[end].least == a->least && l->pixels[end].most == a->most)
        end++;
    return end;
}

static void plot_bars(const struct curve_plot_state *p, const struct curve_line *l)
{
    set_line(p->cr, l->look, p->look, 0.25);
    for (uint32_t i = 0, end; i < p->panel->pixels; i = end) {
        const struct series_pixel *c = &l->pixels[i];
        end = curve_panel_equal_pixel_run(l, i, p->panel->pixels);
        if (c->known == SERIES_NOTHING || c->least == c->most)
            continue;
        double x = p->x_of(p->context, i), top = y_of(p, l, c->most);
        cairo_rectangle(p->cr, x, top, fmax(p->x_of(p->context, end) - x, 0.4),
                        y_of(p, l, c->least) - top);
    }
    cairo_fill(p->cr);
}

static void plot_steps(const struct curve_plot_state *p, const struct curve_line *l)
{
    bool pen = false;
    set_line(p->cr, l->look, p->look, 1);
    cairo_set_line_width(p->cr, l->look < CURVE_LOOKS ? 1.1 : 0.6);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_BEVEL);
    for (uint32_t i = 0, end; i < p->panel->pixels; i = end) {
        const struct series_pixel *c = &l->pixels[i];
        end = curve_panel_equal_pixel_run(l, i, p->panel->pixels);
        double y = y_of(p, l, c->mean);
        if (c->known != SERIES_NOTHING) {
            (pen ? cairo_line_to : cairo_move_to)(p->cr, p->x_of(p->context, i), y);
            cairo_line_to(p->cr, p->x_of(p->context, end), y);
        }
        pen = c->known != SERIES_NOTHING;
    }
    cairo_stroke(p->cr);
    cairo_set_dash(p->cr, NULL, 0, 0);
}

/* Returns the pixel with the mean that shows the value recorded in pixel i: a level holds from then
 * on, a rate up to then. */
static const struct series_pixel *curve_panel_recorded_pixel(const struct curve_panel *p,
                                                             const struct curve_line *l, uint32_t i)
{
    bool other = p->grows ? i > 0 : i + 1 < p->pixels;
    const struct series_pixel *beside = &l->pixels[!other ? i : p->grows ? i - 1 : i + 1];
    return beside->known == SERIES_BETWEEN ? beside : &l->pixels[i];
}

static void plot_dots(const struct curve_plot_state *p, const struct curve_line *l)
{
    uint32_t recorded = 0;
    for (uint32_t i = 0; i < p->panel->pixels; i++)
        recorded += l->pixels[i].known == SERIES_RECORDED;
    if (!recorded || recorded * DOT_PT > p->look.width || l->look >= CURVE_LOOKS)
        return;
    set_line(p->cr, l->look, p->look, 1);
    for (uint32_t i = 0; i < p->panel->pixels; i++)
        if (l->pixels[i].known == SERIES_RECORDED) {
            cairo_new_sub_path(p->cr);
            cairo_arc(p->cr, p->x_of(p->context, i),
                      y_of(p, l, curve_panel_recorded_pixel(p->panel, l, i)->mean), 1.6, 0, 6.2832);
        }
    cairo_fill(p->cr);
}

void curve_panel_plot(cairo_t *cr, const struct curve_panel *panel, const struct curve_ruler *ruler,
                      cairo_rectangle_t box, double (*x_of)(void *context, uint32_t pixel),
                      void *context, struct curve_look look)
{
    struct curve_plot_state p = {cr, panel, ruler, box, x_of, context, look};
    for (uint32_t i = panel->line_count; i-- > 0;) { /* the first line on top */
        plot_bars(&p, &panel->lines[i]);
        plot_steps(&p, &panel->lines[i]);
        plot_dots(&p, &panel->lines[i]);
    }
}

void curve_panel_plot_ruler(cairo_t *cr, const struct curve_ruler *r, cairo_rectangle_t box,
                            struct curve_look look, double size)
{
    unsigned steps = (unsigned)lround((r->high - r->low) / r->step);
    for (unsigned i = 0; i <= steps; i++) {
        char text[40];
        double y = box.y + box.height * (1 - (double)i / steps), v = look.dark ? 0.35 : 0.85;
        curve_panel_tick(r, r->low + i * r->step, text, sizeof text);
        cairo_set_source_rgb(cr, v, v, v);
        cairo_rectangle(cr, box.x, y - 0.2, box.width, 0.4);
        cairo_fill(cr);
        v = look.dark ? 0.75 : 0.3;
        cairo_set_source_rgb(cr, v, v, v);
        text_cache_show(cr, box.x - 4 - text_cache_width(NULL, text, size, false), y - size * 0.68,
                        text, size, false);
    }
}
