/* Who calls whom, as boxes and arrows with counts: callers above, circles closed by dashed arrows that lead up. */
#ifndef RENDER_GRAPH_H
#define RENDER_GRAPH_H

#include "clients/book/callgraph.h"
#include "render/page.h"

#include <cairo.h>

#define GRAPH_NONE UINT32_MAX

/* Laid out, to be painted; what it is made of must stay as long. */
struct graph;
struct graph *graph_new(const struct callgraph *calls, const char *title, bool grey, bool dark);
void graph_size(const struct graph *graph, double *width_pt, double *height_pt);
void graph_paint(struct graph *graph, cairo_t *cr, uint32_t selected); /* a node, or GRAPH_NONE */
uint32_t graph_at(const struct graph *graph, double x_pt, double y_pt); /* a node, or GRAPH_NONE */
void graph_free(struct graph *graph);

/* As a picture; NULL, or what went wrong. */
const char *graph_write(const struct callgraph *calls, const struct page_options *options,
                        const char *path);

#endif
