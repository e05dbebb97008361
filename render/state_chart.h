/* Charts of threads along time: a row for each, filled by its states as large as their share of
 * each pixel, so that short ones are not lost and two threads never seem to do at once what they
 * did one after the other. */
#ifndef RENDER_STATE_CHART_H
#define RENDER_STATE_CHART_H

#include "render/document.h"

#include <stdint.h>
#include <stdio.h>

enum chart_state {
    CHART_START,
    CHART_READY,
    CHART_RUNNING,
    CHART_BLOCKED,
    CHART_SYSTEM,
    CHART_TERMINATE,
    CHART_UNKNOWN, /* blocked, and nobody knows why */
    CHART_STATES
};

struct chart_pixel {
    uint8_t share[CHART_STATES]; /* of 255; what is left is nothing */
};

/* Texts and pixels belong to the caller. */
struct state_chart {
    const char *title, *below; /* below: what stands under the key; NULL: nothing */
    struct chart_row {
        const char *name;
        struct chart_pixel *pixels;
    } *rows;
    uint32_t row_count;
    uint32_t pixels; /* of each row, from from_ns to to_ns */
    struct
        /* of a way through the rows, one after the other in time: a thick line over them */
        chart_piece {
        uint32_t row;
        int64_t from_ns, to_ns;
    } *way;
    uint32_t way_count;
    const char *way_name; /* in the key: "critical path" */
    int64_t from_ns, to_ns;
    bool overview; /* only whether a thread was at work: begun and not ended */
};

#define CHART_PIXELS 1400u /* of a row of a picture, if nobody says how wide it is */
#define CHART_ROWS_MOST 10000u

const char *state_chart_word(unsigned state); /* "blocked" */
/* How many pixels a row of a picture has: as many as are told apart, by the names of its rows and
 * the width that is asked for. */
uint32_t state_chart_pixels(const struct state_chart *chart,
                            const struct document_options *options);
/* As a picture: an image or drawing as large as it takes, a PDF on pages as A4 lying, if it has
 * more rows than one takes and nobody said how wide it is to be.  NULL, or what went wrong. */
const char *state_chart_write(const struct state_chart *chart,
                              const struct document_options *options, const char *path);
/* How many letters a row has, and so its pixels, where a line is so wide: by the names of its
 * rows. */
unsigned state_chart_text_width(const struct state_chart *chart, unsigned width);
void state_chart_text_print(const struct state_chart *chart, FILE *f); /* in letters */

#endif
