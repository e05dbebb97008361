/* A panel of curves: figures of one meter over time, of some processes or threads, with a ruler of
 * its values.
 *
 * A pixel shows what its figure stood at on average as a step, and from least to most as a pale
 * bar; nothing where nothing is known.  Where the figures are told rarely each has a dot, so that
 * one sees what was told and what lasted. */
#ifndef RENDER_CURVE_PANEL_H
#define RENDER_CURVE_PANEL_H

#include "wire/time_series.h"

#include <cairo.h>

#define CURVE_LOOKS 7u /* that can be told apart; all above look alike, pale */

/* Texts and pixels belong to the caller. */
struct curve_panel {
    const char *name, *unit; /* of the meter, as wire/time_series.h has them */
    bool grows;
    struct curve_line {
        const char *name; /* "wc[4711]", "T:main" */
        const struct series_pixel *pixels;
        int64_t scale;
        unsigned look;
    } *lines;
    uint32_t line_count;
    uint32_t pixels; /* of each */
};

/* The ruler of a panel: what is shown is a value divided by `per`. */
struct curve_ruler {
    double per, low, high, step; /* divided */
    char unit[40]; /* "MiB", "KiB/s", "processors", "per second", "" */
};

struct curve_ruler curve_panel_ruler(const struct curve_panel *panel, double height_pt);
/* "48", "0.5": a tick; and with its unit. */
void curve_panel_tick(const struct curve_ruler *ruler, double value, char *text, size_t size);
void curve_panel_value(const struct curve_ruler *ruler, double value, char *text, size_t size);
double curve_panel_shown(const struct curve_ruler *ruler, const struct curve_line *line,
                         int64_t value); /* divided */

struct curve_look {
    bool grey, dark;
    double width; /* of the box, in pixels that are seen; dots are drawn where there is room */
};

/* x_of: where in the drawing a pixel begins (0 .. pixels). */
void curve_panel_plot(cairo_t *cr, const struct curve_panel *panel, const struct curve_ruler *ruler,
                      cairo_rectangle_t box, double (*x_of)(void *context, uint32_t pixel),
                      void *context, struct curve_look look);
/* Horizontal lines with their values, left of the box. */
void curve_panel_plot_ruler(cairo_t *cr, const struct curve_ruler *ruler, cairo_rectangle_t box,
                            struct curve_look look, double size_pt);
void curve_panel_sample(cairo_t *cr, unsigned number, double x, double y, double width,
                        struct curve_look look); /* for a key */

#endif
