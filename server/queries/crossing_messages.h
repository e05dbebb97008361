/* Messages that cross a window: sent left of it and received right of it, both on its lines. */
#ifndef SERVER_QUERIES_CROSSING_MESSAGES_H
#define SERVER_QUERIES_CROSSING_MESSAGES_H

#include "server/order/layout/column_assignment.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

/* Finds messages that are sent among the last events of a line before the window, or received
 * among the first after it: 200 of each line, or fewer if there are many lines. row_of: as in
 * struct layout_params, for the lines 1 .. lines.  Returns the number of messages and sets *found,
 * which the caller frees. */
size_t crossing_messages_find(const struct order *order, const struct layout_result *placement,
                              const uint32_t *row_of, uint32_t lines, struct crossing_info **found);

#endif
