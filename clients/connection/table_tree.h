/* Conversion of a table that is a tree, in which rows of greater depth belong to the row above
 * them: to the boxes of an icicle, and to a call graph. */
#ifndef CLIENTS_CONNECTION_TABLE_TREE_H
#define CLIENTS_CONNECTION_TABLE_TREE_H

#include "clients/connection/result_table.h"
#include "clients/metadata/graph_layout.h"
#include "clients/metadata/icicle_layout.h"

/* Returns the column for the widths: `wanted`, or the first nonempty one of the usual ones
 * (total_ns, waited_ns, unfreed_bytes, calls); column_count if there is none, or it is empty. */
uint32_t table_tree_icicle_column(const struct result_table *table, const char *wanted);
void table_tree_icicle_make(struct icicle_layout *boxes, const struct table_names *names,
                            const struct result_table *table, uint32_t column);

/* Reduces the table of calls with the options `graph` and `callers` to one function (address 0, or
 * one that is not in it: the first): its callers, itself, and its callees, each at depth 0. Returns
 * the row of the function; -1: the table has no rows. */
int table_tree_butterfly(struct result_table *table, struct table_place function);

/* Conversion of the table of calls with the option `graph` to a call graph: rows of depth 0 are
 * functions, those below them their callees. */

/* Uses the first CALL_GRAPH_NODES_MAX functions; the notes say how many others are omitted. */
void table_tree_callgraph_make(struct call_graph *graph, const struct table_names *names,
                               const struct result_table *table);
void table_tree_callgraph_free(struct call_graph *graph); /* leaves it empty */

#endif
