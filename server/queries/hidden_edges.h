/* Order between drawn events that passes through lines which are not drawn. */
#ifndef SERVER_QUERIES_HIDDEN_EDGES_H
#define SERVER_QUERIES_HIDDEN_EDGES_H

#include "server/order/layout/column_assignment.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

/* For each placed event that follows something on a line in no row: the nearest event of another
 * row, back along such lines, that it so follows; found within 64 events.  Lines that are never
 * drawn do not count.  row_of as in struct placing, for the lines 1 .. lines.  Returns how many
 * (caller frees *found). */
size_t hidden_edges_find(const struct order *order, const struct layout_result *placement,
                         const uint32_t *row_of, uint32_t lines, struct via_info **found);

#endif
