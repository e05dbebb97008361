/* Rows of the consistency table about calls and heap: sums that do not add up
 * (server/timing/profile_consistency.h). */
#ifndef SERVER_QUERIES_TABLES_CONSISTENCY_ROWS_H
#define SERVER_QUERIES_TABLES_CONSISTENCY_ROWS_H

#include "server/queries/tables/table_query.h"
#include "server/timing/profile_consistency.h"

#define CONSISTENCY_ROWS_MAX 1000u /* maximum number of violations kept */

struct consistency_rows {
    const struct table_view *view;
    struct summed_violation {
        uint8_t account; /* an enum account: the violated rule */
        uint32_t thread; /* thread line; 0: the violation is that of a process */
        int64_t is, should;
    } *breaches;
    size_t count, room;
    uint64_t broken; /* all violations, including those not kept */
    uint32_t next, thread; /* next process, next thread */
};

/* Checks some of the data; `summed` must be zero-initialized except `view`.  Returns true when all
 * is checked. */
bool consistency_rows_step(struct consistency_rows *summed, uint64_t *budget);
void consistency_rows_free(struct consistency_rows *summed);

#endif
