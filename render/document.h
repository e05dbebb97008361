/* Documents of a scene or a drawing: one page or image as large as it, or paper pages. Equal scenes
 * give equal bytes: the date in a PDF is $SOURCE_DATE_EPOCH, else the one in the options. */
#ifndef RENDER_DOCUMENT_H
#define RENDER_DOCUMENT_H

#include "render/scene_paint.h"

#include <time.h>

enum document_format { DOCUMENT_PDF, DOCUMENT_SVG, DOCUMENT_PNG };

struct document_options {
    enum document_format format;
    double paper_width_pt, paper_height_pt; /* 0: one page as large as the drawing */
    double width_pt; /* scaled to this width; 0: natural size */
    bool wrap; /* with a width: wrapped into bands one below the other, instead of scaled, */
    double wrap_scale; /* at this scale; 0: natural size */
    bool transparent; /* no background (ignored for PDF, which never has one, and for paper) */
    /* SVG: returns the tooltip of a mark in new memory, or NULL; the member is NULL for no
     * tooltips */
    char *(*title_of)(void *context, const struct scene_mark *mark);
    void *context;
    /* paper: rows may be scaled down to this factor to fit a page; 0: not scaled */
    double shrink;
    const char *title;
    time_t date;
    struct paint_theme theme;
    struct paint_selection selection; /* line 0: nothing is selected */
};

#define PAGE_LIMIT_PT 14400.0 /* of a page of a PDF, the limit of viewers */

/* Returns whether one page, as large as the drawing, exceeds the limit of the format: for a PDF see
 * above, for an image 30000 px at 1 px per pt; an SVG has no limit. */
bool document_is_too_large(const struct scene *scene, const struct document_options *options);

/* Returns the number of paper pages (1 without paper). */
unsigned document_count(const struct scene *scene, const struct document_options *options);

/* Paints one page, with its corner at 0, 0. */
void document_paint(cairo_t *cr, const struct scene *scene, const struct document_options *options,
                    unsigned page);

/* Writes the file, first under a temporary name, so that an error leaves no partial file. Returns
 * false with the reason in *why. */
bool document_write(const struct scene *scene, const struct document_options *options,
                    const char *path, const char **why);

/* A document of paper pages that is written scene by scene, for runs that are too long for one
 * scene. */
struct document_file;
struct document_file *document_open(const struct document_options *options, const char *path,
                                    const char **why);
/* Returns how many of the scene's columns are on the pages that it fills; last: also on the page
 * that it does not fill. The next scene begins with the remaining ones. */
uint32_t document_accepts_page(const struct document_file *file, const struct scene *scene,
                               bool last);
/* Adds the pages of the first `columns` columns. */
void document_add(struct document_file *file, const struct scene *scene, uint32_t columns);
/* Returns false with the reason in *why. */
bool document_close(struct document_file *file, const char **why);
void document_abandon(struct document_file *file); /* an existing file of that name is kept */

/* A drawing that its caller paints, on one page or several. */
struct drawing {
    double width_pt, height_pt;
    void (*paint)(void *context, cairo_t *cr); /* paints with its corner at 0, 0 */
    void *context;
    unsigned pages; /* of a PDF, all of the same size; 0: one */
    void (*turn)(void *context,
                 unsigned page); /* called before each page is painted, from 0; NULL: one page */
};

/* Writes the drawing in its own size, or scaled to the options' width, first under a temporary
 * name. Returns false with the reason in *why. */
bool document_write_drawing(const struct drawing *drawing, const struct document_options *options,
                            const char *path, const char **why);

#endif
