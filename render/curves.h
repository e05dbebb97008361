/* Charts of metrics over time: panels of curves one below the other, with a common time axis. */
#ifndef RENDER_CURVES_H
#define RENDER_CURVES_H

#include "render/document.h"
#include "wire/time_series.h"

#include <cairo.h>
#include <stdio.h>

/* The caller owns the texts. */
struct curves {
    const char *title, *below; /* below: the text below the key, or NULL */
    struct curve_panel *panels;
    uint32_t panel_count;
    /* by style: the names of the curves; CURVE_LOOKS: the name for all others, if any */
    const char **names;
    uint32_t name_count;
    uint32_t pixels; /* from from_ns to to_ns */
    int64_t from_ns, to_ns;
};

/* Returns the number of pixels of a panel in a file, for the requested width. */
uint32_t curves_pixels(const struct document_options *options);
/* Writes the chart. Returns false with the reason in *why. */
bool curves_write(const struct curves *curves, const struct document_options *options,
                  const char *path, const char **why);
/* Returns the number of characters of a panel for a line width; and prints the chart as text,
 * ascii: in ASCII only. */
unsigned curve_text_width(unsigned width);
void curve_text_print(const struct curves *curves, bool ascii, FILE *f);

/* A panel of curves: values of one metric over time, of several processes or threads, with an axis
 * of values.
 *
 * A pixel shows the average of its values as a step, and their range as a pale bar; nothing if the
 * value is unknown. If values were reported rarely, each has a dot, which distinguishes reported
 * values from lasting ones. */

#define CURVE_LOOKS 7u /* number of distinguishable styles; all further curves look alike, pale */

/* The caller owns texts and pixels. */
struct curve_panel {
    const char *name, *unit; /* of the metric, as in wire/time_series.h */
    bool grows;
    struct curve_line {
        const char *name; /* "wc[4711]", "T:main" */
        const struct series_pixel *pixels;
        int64_t scale;
        unsigned look;
    } *lines;
    uint32_t line_count;
    uint32_t pixels; /* of each curve */
};

/* The axis of a panel: it shows values divided by `per`. */
struct curve_ruler {
    double per, low, high, step; /* divided by `per` */
    char unit[40]; /* "MiB", "KiB/s", "processors", "per second", "" */
};

struct curve_ruler curve_panel_ruler(const struct curve_panel *panel, double height_pt);
/* Formats a value with its unit. */
void curve_panel_value(const struct curve_ruler *ruler, double value, char *text, size_t size);
double curve_panel_shown(const struct curve_ruler *ruler, const struct curve_line *line,
                         int64_t value); /* divided by `per` */

struct curve_look {
    bool grey, dark;
    double width; /* of the box, in visible pixels; dots are drawn if there is space */
};

/* x_of: returns where a pixel (0 .. pixels) begins in the drawing. */
void curve_panel_plot(cairo_t *cr, const struct curve_panel *panel, const struct curve_ruler *ruler,
                      cairo_rectangle_t box, double (*x_of)(void *context, uint32_t pixel),
                      void *context, struct curve_look look);
/* Horizontal lines with their values, left of the box. */
void curve_panel_plot_ruler(cairo_t *cr, const struct curve_ruler *ruler, cairo_rectangle_t box,
                            struct curve_look look, double size_pt);
void curve_panel_sample(cairo_t *cr, unsigned number, double x, double y, double width,
                        struct curve_look look); /* for a key */

#endif
