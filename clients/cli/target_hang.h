/* The hang to be confirmed (a row of the table `predict`): any other hang confirms nothing. */
#ifndef CLIENTS_CLI_TARGET_HANG_H
#define CLIENTS_CLI_TARGET_HANG_H

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/wait_list.h"
#include "wire/table_rows.h"

#include <stdbool.h>
#include <stddef.h>

struct target_hang {
    /* threads wait for each other; or to be woken, and are not; neither: any hang */
    bool cycle, waking;
    char **names; /* of the lines concerned: their numbers differ between runs */
    size_t count, room;
};

void target_hang_make(struct target_hang *aim, const struct trace_metadata *book,
                      const struct result_table *table, uint32_t row);
/* Returns whether the blocked threads of this run, whose lines are in `book`, hang in this way. */
bool target_hang_matches(const struct target_hang *aim, const struct wait_list *waits,
                         const struct trace_metadata *book);
void target_hang_free(struct target_hang *aim);

#endif
