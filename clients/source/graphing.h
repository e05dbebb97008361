/* The table of calls with the option `graph`, as a graph: rows of depth 0 are functions, those
 * below them whom they call. */
#ifndef CLIENTS_SOURCE_GRAPHING_H
#define CLIENTS_SOURCE_GRAPHING_H

#include "clients/book/callgraph.h"
#include "clients/source/table.h"

/* Of more than CALL_GRAPH_NODES_MAX functions the first ones; the notes say how many are left
 * out. */
void table_to_callgraph_make(struct call_graph *graph, const struct table_names *names,
                             const struct result_table *table);

#endif
