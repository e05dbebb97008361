/* Bars: how long something took, in parts by kind; below each what it is charged to, side by
 * side. */
#ifndef RENDER_BAR_CHART_H
#define RENDER_BAR_CHART_H

#include "render/document.h"

#include <stdint.h>

#define BAR_KINDS 5u /* in whose colours parts are filled; the last is hatched: nobody knows */

/* Texts belong to the caller. */
struct bar_chart {
    const char *title, *below; /* below: NULL, or what stands under the key */
    const char *kinds[BAR_KINDS]; /* in the key */
    struct chart_bar {
        char *name, *amount; /* at its left, at its right */
        int64_t all; /* as long as it is; not less than its parts and causes in all */
        int64_t parts[BAR_KINDS];
        struct chart_bar_cause {
            int64_t part;
            char *text, *brief; /* the first of them that fits is shown */
        } *causes;
        uint32_t cause_count;
    } *items;
    uint32_t count;
};

/* As a picture; NULL, or what went wrong. */
const char *bar_chart_write(const struct bar_chart *bars, const struct document_options *options,
                            const char *path);

#endif
