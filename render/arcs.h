/* Who calls whom, as boxes and arrows with counts: callers above, circles closed by dashed arrows that lead up. */
#ifndef RENDER_ARCS_H
#define RENDER_ARCS_H

#include "clients/book/callgraph.h"
#include "render/page.h"

#include <cairo.h>

#define ARCS_NONE UINT32_MAX

/* Laid out, to be painted; what it is made of must stay as long. */
struct arcs;
struct arcs *arcs_new(const struct callgraph *calls, const char *title, bool grey, bool dark);
void arcs_size(const struct arcs *graph, double *width_pt, double *height_pt);
void arcs_paint(struct arcs *graph, cairo_t *cr, uint32_t selected); /* a node, or ARCS_NONE */
uint32_t arcs_at(const struct arcs *graph, double x_pt, double y_pt); /* a node, or ARCS_NONE */
void arcs_free(struct arcs *graph);

/* As a picture; NULL, or what went wrong. */
const char *arcs_write(const struct callgraph *calls, const struct page_options *options,
                       const char *path);

#endif
