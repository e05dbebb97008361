/* Figures over time as a picture: panels of curves one below the other (render/curve_panel.h), on
 * one ruler of time. */
#ifndef RENDER_CURVES_H
#define RENDER_CURVES_H

#include "render/curve_panel.h"
#include "render/document.h"

#include <stdio.h>

/* Texts belong to the caller. */
struct curves {
    const char *title, *below; /* below: what stands under the key; NULL: nothing */
    struct curve_panel *panels;
    uint32_t panel_count;
    const char *
        *names; /* by look: whose the lines are; CURVE_LOOKS: of all others, if there are any */
    uint32_t name_count;
    uint32_t pixels; /* from from_ns to to_ns */
    int64_t from_ns, to_ns;
};

/* How many pixels a panel of a picture has, by the width that is asked for. */
uint32_t curves_pixels(const struct document_options *options);
/* NULL, or what went wrong. */
const char *curves_write(const struct curves *curves, const struct document_options *options,
                         const char *path);
/* How many letters a line of a panel has where a line is so wide; and in letters, ascii: none but
 * those. */
unsigned curve_text_width(unsigned width);
void curve_text_print(const struct curves *curves, bool ascii, FILE *f);

#endif
