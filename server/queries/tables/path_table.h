/* The table of the critical path (path.c), once all of it is worked out: its columns, rows, sum and
 * notes. */
#ifndef SERVER_QUERIES_TABLES_PATH_TABLE_H
#define SERVER_QUERIES_TABLES_PATH_TABLE_H

#include "server/queries/tables/path_baseline.h"
#include "server/queries/tables/step_categories.h"

/* What is asked of a path, and how far it is worked out. */
struct path_work {
    const struct table_view *view;
    struct path_baseline *basis;
    struct graph_change change; /* asked for */
    uint32_t *factors, *zeroed; /* by step - 1; those that are asked for, and one at a time */
    uint32_t steps; /* so many there were when it began */
    bool changed;
    uint64_t zeros, zeros_done; /* of the greatest steps; UINT64_MAX: none is asked for */
    int64_t changed_ns;
    uint64_t cpus; /* for the bound; 0: not asked for */
    unsigned stage; /* how far it is: an enum stage of path.c */
    bool begun; /* the stage */
    bool pieces; /* only the path itself is asked for */
    bool kinds; /* by category */
    struct step_categories categories;
};

void path_table_fill(struct path_work *w, struct result_table *t);

#endif
