/* Order edges between events of one window that are no partners: signal and wake-up, end and join,
 * post and wait. */
#ifndef SERVER_QUERIES_WINDOW_EDGES_H
#define SERVER_QUERIES_WINDOW_EDGES_H

#include "server/order/layout/column_assignment.h"
#include "wire/layout_results.h"

/* Finds order edges.  Edges through a hidden line come from the newest few events that it
 * collected.  Program order within one thread is no edge, except where it creates a line. row_of:
 * as in struct layout_params, for the lines 1 .. lines.  Returns the number of edges and sets
 * *found, which the caller frees. */
size_t window_edges(const struct order *order, const struct layout_result *placement,
                    const uint32_t *row_of, uint32_t lines, struct edge_info **found);

#endif
