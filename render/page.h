/* Whole documents out of a scene: one page or image as large as the drawing, or
 * paper pages.  The same scene gives the same bytes: the date in a PDF is
 * $SOURCE_DATE_EPOCH, else the one given. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include "render/paint.h"

#include <time.h>

enum page_format { PAGE_PDF, PAGE_SVG, PAGE_PNG };

struct page_options {
    enum page_format format;
    double paper_width_pt, paper_height_pt; /* 0: one page as large as the drawing */
    double width_pt;                        /* scaled to this width; 0: natural size */
    const char *title;
    time_t date;
    struct paint_theme theme;
    struct paint_selection selection; /* line 0: nothing is selected */
};

#define PAGE_LIMIT_PT 14400.0

/* How many paper pages it takes (1 without paper). */
unsigned page_count(const struct scene *scene, const struct page_options *options);

/* Paints one of them, its corner at 0, 0. */
void page_paint(cairo_t *cr, const struct scene *scene, const struct page_options *options, unsigned page);

/* Writes the file, under another name first, so that an error leaves no half one.  NULL, or
 * what went wrong. */
const char *page_write(const struct scene *scene, const struct page_options *options,
                       const char *path);

#endif
