/* Where the threads of a window's rows are at its left edge: what each did last before it. */
#ifndef SERVER_QUERIES_LEFT_EDGE_STATE_H
#define SERVER_QUERIES_LEFT_EDGE_STATE_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/layout_results.h"

/* For each row of one line on which a thread acts.  A thread that goes through many lines before
 * the edge may be told to be where it went first.  row_of as in struct placing, for the lines 1 ..
 * lines; after the rows' `left` are known.  Returns how many (caller frees *found). */
size_t window_left_edge_states(const struct run *run, const struct layout_result *placement,
                               const struct row_info *rows, uint32_t row_count,
                               const uint32_t *row_of, uint32_t lines,
                               struct placement_info **found);

#endif
