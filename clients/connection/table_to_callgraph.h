/* Conversion of the table of calls with the option `graph` to a call graph: rows of depth 0 are
 * functions, those below them their callees. */
#ifndef CLIENTS_CONNECTION_TABLE_TO_CALLGRAPH_H
#define CLIENTS_CONNECTION_TABLE_TO_CALLGRAPH_H

#include "clients/metadata/call_graph.h"
#include "clients/connection/result_table.h"

/* Of more than CALL_GRAPH_NODES_MAX functions, uses the first ones; the notes say how many are
 * omitted. */
void table_to_callgraph_make(struct call_graph *graph, const struct table_names *names,
                             const struct result_table *table);
void table_to_callgraph_free(struct call_graph *graph); /* leaves it empty */

#endif
