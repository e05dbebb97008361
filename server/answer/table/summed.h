/* What of a run's calls and heap does not add up (server/measure/accounts.h): rows of the table of
 * what is not sound. */
#ifndef SERVER_ANSWER_TABLE_SUMMED_H
#define SERVER_ANSWER_TABLE_SUMMED_H

#include "server/answer/table/table.h"
#include "server/measure/accounts.h"

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
