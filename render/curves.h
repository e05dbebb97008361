/* Charts of metrics over time: panels of curves one below the other (render/curve_panel.h), with a
 * common time axis. */
#ifndef RENDER_CURVES_H
#define RENDER_CURVES_H

#include "render/curve_panel.h"
#include "render/document.h"

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
/* Writes the chart. Returns NULL, or an error message. */
const char *curves_write(const struct curves *curves, const struct document_options *options,
                         const char *path);
/* Returns the number of characters of a panel for a line width; and prints the chart as text,
 * ascii: in ASCII only. */
unsigned curve_text_width(unsigned width);
void curve_text_print(const struct curves *curves, bool ascii, FILE *f);

#endif
