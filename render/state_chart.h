/* Charts of thread states along time: a row for each thread, each pixel filled by its states in
 * proportion to their shares, so that short ones remain visible and sequential activities of two
 * threads never seem to be simultaneous. */
#ifndef RENDER_STATE_CHART_H
#define RENDER_STATE_CHART_H

#include "render/document.h"
#include "wire/thread_state_names.h"

#include <cairo.h>
#include <stdint.h>
#include <stdio.h>

struct chart_pixel {
    uint8_t share[THREAD_STATES_DRAWN]; /* of 255; the rest is empty */
};

/* The caller owns texts and pixels. */
struct state_chart {
    const char *title, *below; /* below: the text below the key, or NULL */
    struct chart_row {
        const char *name;
        struct chart_pixel *pixels;
    } *rows;
    uint32_t row_count;
    uint32_t pixels; /* of each row, from from_ns to to_ns */
    struct
        /* a path through the rows, in order of time, drawn as a thick line over them */
        chart_piece {
        uint32_t row;
        int64_t from_ns, to_ns;
    } *way;
    uint32_t way_count;
    const char *way_name; /* in the key: "critical path" */
    int64_t from_ns, to_ns;
    bool overview; /* shows only whether a thread was at work: started and not ended */
};

#define CHART_PIXELS 1400u /* default width of a row */
#define CHART_ROWS_MOST 10000u

/* Returns the number of pixels of a row: as many as can be distinguished, given the names of its
 * rows and the requested width. */
uint32_t state_chart_pixels(const struct state_chart *chart,
                            const struct document_options *options);
/* Writes the chart: an image or drawing of sufficient size, or a PDF on landscape A4 pages, if it
 * has more rows than one page and no width was requested. Returns false with the reason in *why. */
bool state_chart_write(const struct state_chart *chart, const struct document_options *options,
                       const char *path, const char **why);
/* Returns the number of characters of a row, and so its pixels, for a line width, given the names
 * of its rows. */
unsigned state_chart_text_width(const struct state_chart *chart, unsigned width);
void state_chart_text_print(const struct state_chart *chart, FILE *f); /* as text */

/* ---- shares of thread states per pixel of a row ---- */

/* Returns of[pixel][state], as fractions of 1; the rest is empty. In an overview all work is
 * THREAD_STATE_RUNNING. The caller frees it. */
float (*state_shares_of(const struct state_chart *chart, uint32_t row))[THREAD_STATES_DRAWN];
/* Adjusts the shares for painting: every nonzero share gets at least `least`, so that it is
 * visible. */
void state_shares_visible(float *share, float least);

/* ---- chart path ---- */

struct chart_path_box { /* the painted rows, in points */
    double x_pt, y_pt, width_pt, row_pt;
    uint32_t first, rows; /* the rows of the chart */
    bool grey;
};

void chart_path_paint(cairo_t *cr, const struct state_chart *chart,
                      const struct chart_path_box *box);
/* Paints a sample of the path with this width, for a key. */
void chart_path_sample(cairo_t *cr, double x_pt, double y_pt, double width_pt, bool grey);

#endif
