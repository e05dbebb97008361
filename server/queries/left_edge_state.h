/* States at the left edge of a window: what the thread of each row did last before it. */
#ifndef SERVER_QUERIES_LEFT_EDGE_STATE_H
#define SERVER_QUERIES_LEFT_EDGE_STATE_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/layout_results.h"

/* Finds the state for each row of one line on which a thread acts.  A thread that visits many
 * lines before the edge may be shown in the first of them. row_of: as in struct layout_params, for
 * the lines 1 .. lines.  The rows' `left` must be set.  Returns the number of states and sets
 * *found, which the caller frees. */
size_t window_left_edge_states(const struct run *run, const struct layout_result *placement,
                               const struct row_info *rows, uint32_t row_count,
                               const uint32_t *row_of, uint32_t lines,
                               struct placement_info **found);

#endif
