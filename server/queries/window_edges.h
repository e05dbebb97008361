/* Order without partners between events of one window: signal and wake, end and joined, post and
 * taken. */
#ifndef SERVER_QUERIES_WINDOW_EDGES_H
#define SERVER_QUERIES_WINDOW_EDGES_H

#include "server/order/layout/column_assignment.h"
#include "wire/layout_results.h"

/* Edges through a hidden line are told from the events that it collected, the newest few of them.
 * What one thread does one after the other is no edge, but where it makes a line.  row_of as in
 * struct placing, for the lines 1 .. lines.  Returns how many (caller frees *found). */
size_t window_edges(const struct order *order, const struct layout_result *placement,
                    const uint32_t *row_of, uint32_t lines, struct edge_info **found);

#endif
