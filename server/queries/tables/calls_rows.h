/* Columns and rows of the table of calls: flat, who calls whom, as a tree, cycles. */
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
    int64_t life_ns; /* of all threads: what shares are of */
    uint8_t depth; /* of the rows that come */
    /* of a part of the run: what was not called in it has no row, single calls are not known */
    bool part;
    bool raw; /* nothing is taken off for measuring */
    bool cut; /* something was left out */
};

/* times: those of single calls are what people want (Zak's table), else sums (Friedman's).
 * overlaps: how many calls were concurrent is exact. */
void calls_rows_columns(struct result_table *table, bool times, bool overlaps);
/* A row for the thread, under which the next ones come. */
void calls_rows_thread(struct calls_rows *rows, uint32_t line, int64_t life_ns);
void calls_rows_flat(struct calls_rows *rows);
void calls_rows_graph(
    struct calls_rows *rows); /* each function, and under it those that it calls */
void calls_rows_tree(struct calls_rows *rows);
void calls_rows_cycles(struct calls_rows *rows); /* those that call themselves, by cycle */
void calls_rows_total(struct calls_rows *rows, const struct call_sums *all);

#endif
