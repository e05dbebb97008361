#include "render/curve_panel.h"

#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TICK_PT 18.0 /* minimum distance of ticks */
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
    static const char *const sizes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    unsigned k = 0;
    for (r->per = 1; most / r->per >= 1024 && k < 5; k++)
        r->per *= 1024;
    snprintf(r->unit, sizeof r->unit, "%s%s", sizes[k], grows ? "/s" : "");
}

static void set_time(struct curve_ruler *r, double most, const struct curve_panel *p)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    unsigned k = 0;
    if (p->grows) { /* one second per second is one CPU, or one thread */
        r->per = 1e9;
        snprintf(r->unit, sizeof r->unit, "%s",
                 strncmp(p->name, "cpu", 3) == 0 ? "processors" : "threads");
        return;
    }
    for (r->per = 1; most / r->per >= 1000 && k < 3; k++)
        r->per *= 1000;
    snprintf(r->unit, sizeof r->unit, "%s", units[k]);
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
    r.step = round_step(span / fmax(1, floor(height_pt / TICK_PT)));
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

void curve_panel_tick(const struct curve_ruler *r, double value, char *text, size_t size)
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

/* Returns the pixel whose mean shows the value recorded in pixel i: a level holds from then on, a
 * rate up to then. */
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
