/* Writing a drawing that the caller paints to a file, as one page or several. */
#ifndef RENDER_DRAWING_FILE_H
#define RENDER_DRAWING_FILE_H

#include "render/document.h"

struct drawing {
    double width_pt, height_pt;
    void (*paint)(void *context, cairo_t *cr); /* paints with its corner at 0, 0 */
    void *context;
    unsigned pages; /* of a PDF, all of the same size; 0: one */
    void (*turn)(void *context,
                 unsigned page); /* called before each page is painted, from 0; NULL: one page */
};

/* Writes the drawing in its own size, or scaled to the options' width, first under a temporary
 * name. Returns NULL, or an error message. */
const char *drawing_file_write(const struct drawing *drawing,
                               const struct document_options *options, const char *path);

#endif
