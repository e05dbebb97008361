/* Columns and rows of the table of calls: flat, call graph, tree, inverted tree, recursion
 * cycles. */
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
    bool sampled; /* calls were sampled, not measured; */
    /* all samples, and the CPU time that they stand for, ns */
    uint64_t samples;
    int64_t sampled_ns;
    bool points; /* the tree has call sites and instructions, for functions that were inlined */
    bool raw; /* measurement overhead is not subtracted */
    bool cut; /* rows were left out */
};

/* Forms of the table. */
enum calls_form {
    CALLS_FLAT = 1,
    CALLS_CYCLES = 2, /* recursive functions, by cycle */
    CALLS_CALLEES = 4, /* each function, and below it its callees */
    CALLS_CALLERS = 8, /* each function, and below it its callers */
    CALLS_BUTTERFLY = 16, /* each function, and below it its callers, then its callees */
    CALLS_TREE = 32, /* call paths from the beginnings of threads */
    CALLS_INVERTED = 64, /* each function, and below it the call paths that led to it */
    CALLS_WALL = 128 /* call paths, and what a thread did in no function */
};

/* Returns the requested form. */
enum calls_form calls_rows_form(const struct table_request *request);
/* Returns whether it shows times of single calls (Zak's table) instead of sums (Friedman's). */
bool calls_rows_shows_times(enum calls_form form);
/* Returns the column that it is sorted by, unless another one is requested. */
const char *calls_rows_sort(enum calls_form form);

/* overlaps: the number of concurrent calls is exact. sampled: times are estimates, from samples. */
void calls_rows_columns(struct result_table *table, enum calls_form form, bool overlaps,
                        bool sampled);
/* Adds a row for the thread, below which the next rows are placed. */
void calls_rows_thread(struct calls_rows *rows, uint32_t line, int64_t life_ns);
/* Adds the rows of all functions in a form. */
void calls_rows_add(struct calls_rows *rows, enum calls_form form);
/* Adds below a sampled thread what is in no function: so the rows add up to its lifetime. */
void calls_rows_outside(struct calls_rows *rows, int64_t life_ns);
void calls_rows_add_points(struct result_table *table); /* adds the columns of `points` */
void calls_rows_total(struct calls_rows *rows, const struct call_sums *all);

#endif
