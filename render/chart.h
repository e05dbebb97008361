/* Charts of threads along time: a row for each, filled by its states as large as their share of each pixel, so that short
 * ones are not lost and two threads never seem to do at once what they did one after the other. */
#ifndef RENDER_CHART_H
#define RENDER_CHART_H

#include "render/page.h"

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

struct chart_span {
    int64_t from_ns, to_ns;
    uint8_t state; /* an enum chart_state */
};

/* The spans of a row do not overlap and come in the order of time.  Texts and spans belong to the caller. */
struct chart {
    const char *title, *below; /* below: what stands under the key; NULL: nothing */
    struct chart_row {
        const char *name;
        struct chart_span *spans;
        uint32_t span_count;
    } *rows;
    uint32_t row_count;
    struct
        chart_piece { /* of a way through the rows, one after the other in time: a thick line over them */
        uint32_t row;
        int64_t from_ns, to_ns;
    } *way;
    uint32_t way_count;
    const char *way_name; /* in the key: "critical path" */
    int64_t from_ns, to_ns;
    bool overview; /* only whether a thread was at work: begun and not ended */
};

const char *chart_word(unsigned state); /* "blocked" */
/* As a picture; NULL, or what went wrong. */
const char *chart_write(const struct chart *chart, const struct page_options *options,
                        const char *path);
/* In letters, so many columns wide. */
void chart_print(const struct chart *chart, unsigned width, FILE *f);

#endif
