/* Columns and rows of the table of calls: flat, who calls whom, as a tree, cycles. */
#ifndef SERVER_ANSWER_TABLE_CALLROWS_H
#define SERVER_ANSWER_TABLE_CALLROWS_H

#include "server/answer/table/scopes.h"
#include "server/answer/table/table.h"
#include "server/measure/calls.h"

#define CALLROWS_DEPTH 200 /* rows of greater depth are left out */

struct callrows {
    const struct run *run;
    const struct scopes *scopes;
    const struct calls *calls;
    struct shown_table *table;
    int64_t life_ns; /* of all threads: what shares are of */
    uint8_t depth; /* of the rows that come */
    bool
        part; /* of a part of the run: what was not called in it has no row, single calls are not known */
    bool raw; /* nothing is taken off for measuring */
    bool cut; /* something was left out */
};

/* times: those of single calls are what people want (Zak's table), else sums (Friedman's).
 * overlaps: how many calls were concurrent is exact. */
void callrows_columns(struct shown_table *table, bool times, bool overlaps);
/* A row for the thread, under which the next ones come. */
void callrows_thread(struct callrows *rows, uint32_t line, int64_t life_ns);
void callrows_flat(struct callrows *rows);
void callrows_graph(struct callrows *rows); /* each function, and under it those that it calls */
void callrows_tree(struct callrows *rows);
void callrows_cycles(struct callrows *rows); /* those that call themselves, by cycle */
void callrows_total(struct callrows *rows, const struct call_sums *all);

#endif
