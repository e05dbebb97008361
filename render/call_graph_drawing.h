/* Drawing of a call graph as boxes and arrows with counts: callers above, cycles closed by dashed
 * arrows that lead up. */
#ifndef RENDER_CALL_GRAPH_DRAWING_H
#define RENDER_CALL_GRAPH_DRAWING_H

#include "clients/metadata/graph_layout.h"
#include "render/document.h"

#include <cairo.h>

#define CALL_GRAPH_DRAWING_NONE UINT32_MAX

/* A graph with its layout, ready to be painted. It borrows the graph and the title. */
struct call_graph_drawing;
struct call_graph_drawing *call_graph_drawing_new(const struct call_graph *calls, const char *title,
                                                  bool grey, bool dark);
void call_graph_drawing_size(const struct call_graph_drawing *graph, double *width_pt,
                             double *height_pt);
void call_graph_paint(struct call_graph_drawing *graph, cairo_t *cr,
                      uint32_t selected); /* a node, or CALL_GRAPH_DRAWING_NONE */
uint32_t call_graph_drawing_at(const struct call_graph_drawing *graph, double x_pt,
                               double y_pt); /* returns a node, or CALL_GRAPH_DRAWING_NONE */
void call_graph_drawing_free(struct call_graph_drawing *graph);

/* Writes the drawing. Returns false with the reason in *why. */
bool call_graph_drawing_write(const struct call_graph *calls,
                              const struct document_options *options, const char *path,
                              const char **why);

#endif
