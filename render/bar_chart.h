/* Bar charts of durations: each bar in parts by kind, above a second bar of what the time is
 * attributed to. */
#ifndef RENDER_BAR_CHART_H
#define RENDER_BAR_CHART_H

#include "render/document.h"

#include <stdint.h>

#define BAR_KINDS 5u /* colors of the parts; the last one is hatched: unknown */

/* The caller owns the texts. */
struct bar_chart {
    const char *title, *below; /* below: NULL, or a text below the key */
    const char *kinds[BAR_KINDS]; /* in the key */
    struct chart_bar {
        char *name, *amount; /* left and right of the bar */
        int64_t all; /* its length; at least the sum of its parts, and of its causes */
        int64_t parts[BAR_KINDS];
        struct chart_bar_cause {
            int64_t part;
            char *text, *brief; /* the first of them that fits is shown */
        } *causes;
        uint32_t cause_count;
    } *items;
    uint32_t count;
};

/* Writes the chart. Returns false with the reason in *why. */
bool bar_chart_write(const struct bar_chart *bars, const struct document_options *options,
                     const char *path, const char **why);

#endif
