/* How a drawing that is longer than its paper is cut: into bands one below the other, each with the
 * names of its rows, and those onto pages.  Columns are cut where one ends, so that no mark is cut;
 * rows, if not all fit a page, evenly.  What runs down is cut into pages alone. */
#ifndef RENDER_PAPER_BANDS_H
#define RENDER_PAPER_BANDS_H

#include "render/document.h"
#include "render/svg_text.h"

struct paper_bands {
    bool paper; /* pages of one size; else one that is as large as it takes */
    double width_pt, height_pt; /* of a page, as on paper */
    double margin_pt;
    double scale; /* from points of the scene to those of a page */
    double columns_pt; /* width of the columns of a band, of the scene */
    uint32_t rows; /* of a page */
    unsigned down; /* pages that the rows take, one below the other: */
    unsigned first,
        others; /*   else 1, and bands on the first page, which has the legend, and on others */
    double band_pt; /* from one to the next, of the scene */
};

struct paper_bands paper_bands_cut(const struct scene *scene,
                                   const struct document_options *options);
/* Columns from the i-th on that fit one band; at least one, if there is one. */
uint32_t paper_bands_columns(const struct scene *scene, const struct paper_bands *bands,
                             uint32_t i);
/* How many of the columns, from the i-th on, go on one page (of the first: `first`). */
uint32_t paper_bands_page(const struct scene *scene, const struct paper_bands *bands, uint32_t i,
                          bool first);
unsigned paper_bands_pages(const struct scene *scene, const struct paper_bands *bands);

/* Paints the page that begins with the i-th column; y: which part of the rows.  svg: is told the
 * marks, or NULL. */
void paper_bands_paint(cairo_t *cr, const struct scene *scene,
                       const struct document_options *options, const struct paper_bands *bands,
                       uint32_t i, unsigned y, struct svg *svg);

#endif
