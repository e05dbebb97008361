/* The table of calls with the option `graph`, as a graph: rows of depth 0 are functions, those below them whom they call. */
#ifndef CLIENTS_SOURCE_GRAPHING_H
#define CLIENTS_SOURCE_GRAPHING_H

#include "clients/book/callgraph.h"
#include "clients/source/table.h"

/* Of more than CALLGRAPH_MOST functions the first ones; the notes say how many are left out. */
void graphing_make(struct callgraph *graph, const struct table_names *names,
                   const struct shown_table *table);

#endif
