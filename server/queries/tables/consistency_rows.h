/* What of a run's calls and heap does not add up (server/timing/profile_consistency.h): rows of the
 * table of what is not sound. */
#ifndef SERVER_QUERIES_TABLES_CONSISTENCY_ROWS_H
#define SERVER_QUERIES_TABLES_CONSISTENCY_ROWS_H

#include "server/queries/tables/table_query.h"
#include "server/timing/profile_consistency.h"

#define CONSISTENCY_ROWS_MAX 1000u /* that are kept */

struct consistency_rows {
    const struct table_view *view;
    struct summed_violation {
        uint8_t account; /* an enum account */
        uint32_t thread; /* line; 0: of a process */
        int64_t is, should;
    } *breaches;
    size_t count, room;
    uint64_t broken; /* kept or not */
    uint32_t next, thread; /* process or thread */
};

/* Zero-initialised, with what is looked at; true: all was. */
bool consistency_rows_step(struct consistency_rows *summed, uint64_t *budget);
void consistency_rows_free(struct consistency_rows *summed);

#endif
