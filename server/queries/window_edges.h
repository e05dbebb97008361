/* Edges of a window: order between its events that no line of the diagram shows, order through
 * lines that are not drawn (hidden edges), messages that cross the window, and what the threads did
 * last before its left edge.
 *
 * Each search gets the rows of lines 1 .. lines, as in struct layout_params (row_of), returns the
 * number of what it found and sets *found, which the caller frees. */
#ifndef SERVER_QUERIES_WINDOW_EDGES_H
#define SERVER_QUERIES_WINDOW_EDGES_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

/* Finds order edges between events of the window that are not partners: signal and wake-up, end and
 * join, post and wait.  Edges through a hidden line come from the newest few events that it
 * collected.  Program order within one thread is not an edge, except where it creates a line. */
size_t window_edges_find(const struct order *order, const struct layout_result *placement,
                         const uint32_t *row_of, uint32_t lines, struct edge_info **found);
/* Finds, for each placed event that follows an event on a line without a row, the nearest
 * preceding event of another row, back along such lines and within 64 events.  Lines that are never
 * drawn do not count. */
size_t hidden_edges_find(const struct order *order, const struct layout_result *placement,
                         const uint32_t *row_of, uint32_t lines, struct via_info **found);
/* Finds messages that are sent left of the window and received right of it, both on its lines:
 * those sent among the last events of a line before the window, or received among the first after
 * it, 200 of each line, or fewer if there are many lines. */
size_t crossing_messages_find(const struct order *order, const struct layout_result *placement,
                              const uint32_t *row_of, uint32_t lines, struct crossing_info **found);

/* Finds what the thread of each row did last left of the window, for each row of one line on
 * which a thread acts.  A thread that visits many lines before the edge may be shown in the
 * first of them. The rows' `left` must be set. */
size_t window_left_edge_states(const struct run *run, const struct layout_result *placement,
                               const struct row_info *rows, uint32_t row_count,
                               const uint32_t *row_of, uint32_t lines,
                               struct placement_info **found);

#endif
