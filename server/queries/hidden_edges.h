/* Hidden edges: order between drawn events that passes through lines that are not drawn. */
#ifndef SERVER_QUERIES_HIDDEN_EDGES_H
#define SERVER_QUERIES_HIDDEN_EDGES_H

#include "server/order/layout/column_assignment.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

/* Finds, for each placed event that follows an event on a line without a row, the nearest
 * preceding event of another row, back along such lines and within 64 events.  Lines that are never
 * drawn do not count. row_of: as in struct layout_params, for the lines 1 .. lines.  Returns the
 * number of edges and sets *found, which the caller frees. */
size_t hidden_edges_find(const struct order *order, const struct layout_result *placement,
                         const uint32_t *row_of, uint32_t lines, struct via_info **found);

#endif
