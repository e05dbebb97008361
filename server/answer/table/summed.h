/* What of a run's calls and heap does not add up (server/measure/accounts.h): rows of the table of what is not sound. */
#ifndef SERVER_ANSWER_TABLE_SUMMED_H
#define SERVER_ANSWER_TABLE_SUMMED_H

#include "server/answer/table/table.h"
#include "server/measure/accounts.h"

#define SUMMED_MOST 1000u /* that are kept */

struct summed {
    const struct table_view *view;
    struct summed_breach {
        uint8_t account; /* an enum account */
        uint32_t thread; /* line; 0: of a process */
        int64_t is, should;
    } *breaches;
    size_t count, room;
    uint64_t broken; /* kept or not */
    uint32_t next, thread; /* process or thread */
};

/* Zero-initialised, with what is looked at; true: all was. */
bool summed_step(struct summed *summed, uint64_t *budget);
void summed_free(struct summed *summed);

#endif
