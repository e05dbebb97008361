/* A tree of boxes (clients/metadata/icicle_layout.h) as a picture: an icicle, each box as wide as
 * what it and all below it took.
 *
 * Colours tell files or modules apart, waiting is hatched; what is too narrow to be drawn is one
 * box without a colour for all that lie side by side, and said below.  The same boxes give the same
 * bytes. */
#ifndef RENDER_ICICLE_DRAWING_H
#define RENDER_ICICLE_DRAWING_H

#include "clients/metadata/icicle_layout.h"
#include "render/document.h"

#include <cairo.h>
#include <stdio.h>

#define ICICLE_ROW_PT 15.0
#define ICICLE_RULER_PT 16.0
#define ICICLE_LEAST_PT 1.5 /* what is narrower is no box of its own */
#define ICICLE_NONE UINT32_MAX

/* How boxes are looked at; its corner at 0, 0. */
struct icicle_drawing_view {
    double width_pt;
    double from_pt, to_pt; /* only what is between these heights; to 0: all */
    uint32_t selected; /* nodes, or ICICLE_NONE */
    uint32_t pointed;
    const bool *found; /* by node: these stand out, the others step back; NULL: all are alike */
    bool grey, dark;
};

/* Where boxes of a node stand in so wide a picture; icicle_layout_places_free() them. */
void icicle_drawing_place(const struct icicle_layout *boxes, uint32_t node, double width_pt,
                          struct icicle_boxes *places);
/* The boxes, below a ruler of ICICLE_RULER_PT. */
void icicle_drawing_paint(cairo_t *cr, const struct icicle_layout *boxes,
                          const struct icicle_boxes *places,
                          const struct icicle_drawing_view *view);
/* The place at a point of such a picture; NULL: there is none. */
const struct icicle_box *icicle_drawing_at(const struct icicle_layout *boxes,
                                           const struct icicle_boxes *places,
                                           const struct icicle_drawing_view *view, double x_pt,
                                           double y_pt);
/* Fills the current path as groups of this rank are, or waiting (rank ICICLE_NONE), or what stands
 * for several (ICICLE_NONE - 1). */
void icicle_drawing_fill(cairo_t *cr, uint32_t rank, bool grey, cairo_rectangle_t box);
/* A text as wide as that at most, cut in its middle; NULL: not even that can be read.  New
 * memory. */
char *icicle_drawing_fitting(const char *text, double width_pt, double size_pt);

/* As a picture, of a node and all below it; NULL, or what went wrong. */
const char *icicle_page_write(const struct icicle_layout *boxes, uint32_t node,
                              const struct document_options *options, const char *path);
/* In letters, lines of so many. */
void icicle_text_print(const struct icicle_layout *boxes, unsigned width, FILE *f);
/* "3 boxes narrower than 0.012 ms stand together: 0.034 ms in all"; new memory, NULL: there are
 * none. */
char *icicle_page_smaller_text(const struct icicle_layout *boxes, const struct icicle_boxes *places,
                               int64_t least);
int64_t icicle_drawing_min_share(const struct icicle_layout *boxes, uint32_t node, double width_pt);
/* A size in words: "3.250 ms", "117". */
void icicle_drawing_box_text(const struct icicle_layout *boxes, int64_t size, char *text,
                             size_t room);

#endif
