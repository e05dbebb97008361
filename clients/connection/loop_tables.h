/* Tables of loops and of basic blocks, made from the edges between blocks that the server counted
 * (preset "edges"): the debug information, which the client has, says in which function and on
 * which source lines they are. */
#ifndef CLIENTS_CONNECTION_LOOP_TABLES_H
#define CLIENTS_CONNECTION_LOOP_TABLES_H

#include "clients/connection/result_table.h"

struct loop_table_options {
    bool blocks; /* a row for each basic block, else for each loop */
    bool by_thread; /* the edges are those of threads: a row for each thread */
    const char *sort; /* a column, descending; NULL: functions by self time, in the order of code */
    bool backwards; /* ascending */
    uint32_t top; /* maximum number of rows; 0: all */
};

/* Returns false if the column to sort by is missing. The caller frees `to` in any case. */
bool loop_table_make(struct result_table *to, const struct loop_table_options *how,
                     const struct table_names *names, const struct result_table *edges);

#endif
