/* Whole documents out of a scene: one page or image as large as the drawing, or
 * paper pages.  The same scene gives the same bytes: the date in a PDF is
 * $SOURCE_DATE_EPOCH, else the one given. */
#ifndef RENDER_DOCUMENT_H
#define RENDER_DOCUMENT_H

#include "render/scene_paint.h"

#include <time.h>

enum document_format { DOCUMENT_PDF, DOCUMENT_SVG, DOCUMENT_PNG };

struct document_options {
    enum document_format format;
    double paper_width_pt, paper_height_pt; /* 0: one page as large as the drawing */
    double width_pt;                        /* scaled to this width; 0: natural size */
    bool wrap;          /* with a width: in bands one below the other, instead of scaled to it, */
    double wrap_scale;  /*   at this scale; 0: natural size */
    bool transparent;   /* no ground (not of a PDF, which has none, and not of paper) */
    /* SVG: the words that a mark shows when it is pointed at, new memory; NULL: none do */
    char *(*title_of)(void *context, const struct scene_mark *mark);
    void *context;
    /* paper: rows may be made smaller, down to this scale, to fit a page; 0: as they are */
    double shrink;
    const char *title;
    time_t date;
    struct paint_theme theme;
    struct paint_selection selection; /* line 0: nothing is selected */
};

#define PAGE_LIMIT_PT 14400.0 /* of a page of a PDF, as viewers show it */

/* Whether one page, as large as the drawing, is larger than the format can have: a PDF above, an
 * image 30000 px at 1 px for 1 pt; an SVG has no limit. */
bool document_is_too_large(const struct scene *scene, const struct document_options *options);

/* What a PDF says of itself: its date, or $SOURCE_DATE_EPOCH, and its title. */
void document_set_metadata(cairo_surface_t *surface, const struct document_options *options);

/* How many paper pages it takes (1 without paper). */
unsigned document_count(const struct scene *scene, const struct document_options *options);

/* Paints one of them, its corner at 0, 0. */
void document_paint(cairo_t *cr, const struct scene *scene, const struct document_options *options,
                    unsigned page);

/* Writes the file, under another name first, so that an error leaves no half one.  NULL, or
 * what went wrong. */
const char *document_write(const struct scene *scene, const struct document_options *options,
                           const char *path);

/* A document of paper pages, scene after scene, for what is too long to be one scene. */
struct document_file;
struct document_file *document_open(const struct document_options *options, const char *path,
                                    const char **why);
/* How many of its columns are on the pages that the scene fills; last: and on the one that it does
 * not.  The next scene begins with the others. */
uint32_t document_accepts_page(const struct document_file *file, const struct scene *scene,
                               bool last);
/* Adds the pages of so many of its columns. */
void document_add(struct document_file *file, const struct scene *scene, uint32_t columns);
/* What Cairo complains of, in words for who reads it. */
const char *document_error(cairo_status_t status);
const char *document_close(struct document_file *file); /* NULL, or what went wrong */
void document_abandon(struct document_file *file); /* what was there under the name stays */

#endif
