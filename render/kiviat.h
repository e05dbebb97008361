/* Kiviat graphs (Kolence and Kiviat, Software Unit Profiles and Kiviat Figures, 1973): values on
 * axes around a center, alternately one that is good if high and one that is good if low. If all
 * values are good, it is a star with sharp points; a dent, or a cut-off point, shows a bad
 * value. */
#ifndef RENDER_KIVIAT_H
#define RENDER_KIVIAT_H

#include "render/document.h"

#include <stdio.h>

#define KIVIAT_AXES_LEAST 3u

/* The caller owns the texts. */
struct kiviat {
    const char *title, *below; /* below: NULL, or a text below the graph */
    struct kiviat_axis {
        char *name, *amount; /* amount: the value as text */
        char *end; /* the value at the end of its axis */
        double value; /* 0 at the center, 1 at the end of the axis */
        bool high; /* high is good */
    } *axes;
    unsigned count;
};

/* Sorts the axes so that high-is-good and low-is-good ones alternate, as far as possible. */
void kiviat_arrange(struct kiviat *kiviat);
/* Writes the graph. Returns false with the reason in *why. */
bool kiviat_write(const struct kiviat *kiviat, const struct document_options *options,
                  const char *path, const char **why);
void kiviat_print(const struct kiviat *kiviat, FILE *f); /* as text: one line per axis */

#endif
