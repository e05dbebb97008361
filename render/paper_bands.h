/* Layout of a drawing that is longer than its paper: it is cut into bands one below the other, each
 * with the names of its rows, and the bands are distributed over pages. A band ends between two
 * columns where a break cuts least: deadlock cycles and texts stay whole if they fit a band, and as
 * few arrows as possible are cut. Rows, if they do not all fit a page, are cut evenly. A vertical
 * drawing is cut into pages only.
 *
 * On one page as high as needed, rows with nothing in a band are left out of it; a line below it
 * says so, and whether a deadlock cycle continues in the next band. */
#ifndef RENDER_PAPER_BANDS_H
#define RENDER_PAPER_BANDS_H

#include "render/document.h"
#include "render/svg_text.h"

struct paper_bands {
    bool paper; /* pages of fixed size; else one page of sufficient size */
    double width_pt, height_pt; /* of a page, as on paper */
    double margin_pt;
    double scale; /* from points of the scene to points of a page */
    double columns_pt; /* width of the columns of a band, in points of the scene */
    uint32_t rows; /* of a page */
    unsigned down; /* number of pages that the rows take, one below the other; */
    /* else 1, and the number of bands on the first page, which has the legend, and on other
     * pages */
    unsigned first, others;
    double band_pt; /* distance of bands, in points of the scene */
    bool narrow; /* rows with nothing in a band are left out: bands have different heights */
};

struct paper_bands paper_bands_cut(const struct scene *scene,
                                   const struct document_options *options);
/* Returns the number of columns, from the i-th on, of one band; at least one, if any. */
uint32_t paper_bands_columns(const struct scene *scene, const struct paper_bands *bands,
                             uint32_t i);
/* Returns the number of columns, from the i-th on, that fit one page (`first`: the first page). */
uint32_t paper_bands_page(const struct scene *scene, const struct paper_bands *bands, uint32_t i,
                          bool first);
unsigned paper_bands_pages(const struct scene *scene, const struct paper_bands *bands);

/* Paints the page that begins with the i-th column; y: which part of the rows. svg receives the
 * marks; may be NULL. */
void paper_bands_paint(cairo_t *cr, const struct scene *scene,
                       const struct document_options *options, const struct paper_bands *bands,
                       uint32_t i, unsigned y, struct svg *svg);

#endif
