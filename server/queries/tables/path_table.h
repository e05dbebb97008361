/* Columns, rows, total and notes of the table of the critical path (path_table_query.c), once all
 * is computed. */
#ifndef SERVER_QUERIES_TABLES_PATH_TABLE_H
#define SERVER_QUERIES_TABLES_PATH_TABLE_H

#include "server/queries/tables/path_baseline.h"
#include "server/queries/tables/step_categories.h"

/* A request about the critical path, and its progress. */
struct path_work {
    const struct table_view *view;
    struct path_baseline *basis;
    struct graph_change change; /* the requested change */
    /* By code segment - 1: the requested factors; those of one what-if pass. */
    uint32_t *factors, *zeroed;
    uint32_t steps; /* number of code segments when the work began */
    bool changed;
    /* Number of the largest code segments that get a what-if gain, UINT64_MAX: none; those done. */
    uint64_t zeros, zeros_done;
    int64_t changed_ns;
    uint64_t cpus; /* number of CPUs for the bound; 0: not requested */
    unsigned stage; /* an enum path_stage of path_table_query.c */
    bool begun; /* the current stage has begun */
    bool pieces; /* by "piece": only the path itself is computed */
    bool kinds; /* by "category" */
    struct step_categories categories;
};

void path_table_fill(struct path_work *w, struct result_table *t);

#endif
