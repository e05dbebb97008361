/* A Kiviat graph (Kolence and Kiviat, Software Unit Profiles and Kiviat Figures, 1973): figures on
 * axes around a centre, in turn one that is good where it is high and one that is good where it is
 * low.  Where all is well it is a star with sharp points; a dent, or a point that is cut off, is
 * where something is not. */
#ifndef RENDER_KIVIAT_H
#define RENDER_KIVIAT_H

#include "render/document.h"

#include <stdio.h>

#define KIVIAT_AXES_LEAST 3u

/* Texts belong to the caller. */
struct kiviat {
    const char *title, *below; /* below: NULL, or what stands under it */
    struct kiviat_axis {
        char *name, *amount; /* amount: the figure, as people read it */
        char *end; /* what the end of its axis stands for */
        double value; /* 0 at the centre, 1 at the end of the axis */
        bool high; /* is good */
    } *axes;
    unsigned count;
};

/* In turn one that is good high and one that is good low, as far as there are both. */
void kiviat_arrange(struct kiviat *kiviat);
/* As a picture; NULL, or what went wrong. */
const char *kiviat_write(const struct kiviat *kiviat, const struct document_options *options,
                         const char *path);
void kiviat_print(const struct kiviat *kiviat, FILE *f); /* in letters: an axis a line */

#endif
