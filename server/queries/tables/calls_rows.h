/* Columns and rows of the table of calls: flat, call graph, tree, recursion cycles. */
#ifndef SERVER_QUERIES_TABLES_CALLS_ROWS_H
#define SERVER_QUERIES_TABLES_CALLS_ROWS_H

#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/call_profile.h"

#define CALLS_ROWS_DEPTH 200 /* rows of greater depth are left out */

struct calls_rows {
    const struct run *run;
    const struct scope_numbers *scopes;
    const struct call_profile *calls;
    struct result_table *table;
    int64_t life_ns; /* lifetime of all threads, which shares refer to */
    uint8_t depth; /* depth of the next rows */
    /* a part of the run: functions without calls have no row, and single calls are not known */
    bool part;
    bool raw; /* measurement overhead is not subtracted */
    bool cut; /* rows were left out */
};

/* times: show times of single calls (Zak's table) instead of sums (Friedman's). overlaps: the
 * number of concurrent calls is exact. */
void calls_rows_columns(struct result_table *table, bool times, bool overlaps);
/* Adds a row for the thread, below which the next rows are placed. */
void calls_rows_thread(struct calls_rows *rows, uint32_t line, int64_t life_ns);
void calls_rows_flat(struct calls_rows *rows);
/* Each function, and below it its callees. */
void calls_rows_graph(struct calls_rows *rows);
void calls_rows_tree(struct calls_rows *rows);
void calls_rows_cycles(struct calls_rows *rows); /* recursive functions, by cycle */
void calls_rows_total(struct calls_rows *rows, const struct call_sums *all);

#endif
