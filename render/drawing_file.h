/* What somebody else paints, as a file of one page, or some. */
#ifndef RENDER_DRAWING_FILE_H
#define RENDER_DRAWING_FILE_H

#include "render/document.h"

struct drawing {
    double width_pt, height_pt;
    void (*paint)(void *context, cairo_t *cr); /* its corner at 0, 0 */
    void *context;
    unsigned pages; /* of a PDF, all of that size; 0: one */
    void (*turn)(void *context,
                 unsigned page); /* before each of them is painted, from 0; NULL: one */
};

/* As large as it is, or scaled to the options' width.  Written under another name first; NULL, or
 * what went wrong. */
const char *drawing_file_write(const struct drawing *drawing,
                               const struct document_options *options, const char *path);

#endif
