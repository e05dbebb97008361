/* Icicle charts of a tree of boxes (clients/metadata/icicle_layout.h), painted, in a file or as
 * text: the width of each box is its size including everything below it.
 *
 * Colors distinguish files or modules, waiting is hatched; adjacent boxes that are too narrow to be
 * drawn are merged into one box without a color, and a text says so. Equal boxes give equal
 * bytes. */
#ifndef RENDER_ICICLE_DRAWING_H
#define RENDER_ICICLE_DRAWING_H

#include "clients/metadata/icicle_layout.h"
#include "render/document.h"

#include <cairo.h>
#include <stdio.h>

#define ICICLE_ROW_PT 15.0
#define ICICLE_RULER_PT 16.0
#define ICICLE_LEAST_PT 1.5 /* narrower boxes are merged */
#define ICICLE_NONE UINT32_MAX

/* The visible part and the highlights; the corner is at 0, 0. */
struct icicle_drawing_view {
    double width_pt;
    double from_pt, to_pt; /* only what is between these heights; to 0: everything */
    uint32_t selected; /* nodes, or ICICLE_NONE */
    uint32_t pointed;
    const bool *found; /* by node: search hits are emphasized, the others dimmed; NULL: no search */
    bool grey, dark;
};

/* Computes the boxes of a node in a drawing of this width; free with
 * icicle_layout_places_free(). */
void icicle_drawing_place(const struct icicle_layout *boxes, uint32_t node, double width_pt,
                          struct icicle_boxes *places);
/* Paints the boxes, below a ruler of ICICLE_RULER_PT. */
void icicle_drawing_paint(cairo_t *cr, const struct icicle_layout *boxes,
                          const struct icicle_boxes *places,
                          const struct icicle_drawing_view *view);
/* Returns the box at a point of such a drawing, or NULL. */
const struct icicle_box *icicle_drawing_at(const struct icicle_layout *boxes,
                                           const struct icicle_boxes *places,
                                           const struct icicle_drawing_view *view, double x_pt,
                                           double y_pt);
/* Fills the current path in the style of the group of this rank, of waiting (rank ICICLE_NONE), or
 * of merged boxes (ICICLE_NONE - 1). */
void icicle_drawing_fill(cairo_t *cr, uint32_t rank, bool grey, cairo_rectangle_t box);
/* Returns the text, with its middle cut out if it exceeds the width; NULL if there is no space for
 * readable text. New memory. */
char *icicle_drawing_fitting(const char *text, double width_pt, double size_pt);

size_t icicle_letters(const char *text); /* the number of characters of UTF-8 text */
const char *icicle_skip_letters(const char *text, size_t count); /* returns the rest */

/* Writes a chart of a node and everything below it. Returns false with the reason in *why. */
bool icicle_page_write(const struct icicle_layout *boxes, uint32_t node,
                       const struct document_options *options, const char *path, const char **why);
/* Prints the chart as text, in lines of `width` characters. */
void icicle_text_print(const struct icicle_layout *boxes, unsigned width, FILE *f);
/* Returns "3 boxes narrower than 0.012 ms merged ...: 0.034 ms in total" in new memory, or NULL
 * if there are none. */
char *icicle_page_smaller_text(const struct icicle_layout *boxes, const struct icicle_boxes *places,
                               int64_t least);
int64_t icicle_drawing_min_share(const struct icicle_layout *boxes, uint32_t node, double width_pt);

#endif
