/* The hang that is to be confirmed (a row of the table `predict`): another one confirms nothing. */
#ifndef CLIENTS_CLI_TARGET_HANG_H
#define CLIENTS_CLI_TARGET_HANG_H

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/wait_list.h"
#include "wire/table_rows.h"

#include <stdbool.h>
#include <stddef.h>

struct target_hang {
    bool cycle,
        waking; /* threads wait for each other; or to be woken, and are not; neither: any hang is */
    char **names; /* of the lines that it is about: in another run they have other numbers */
    size_t count, room;
};

void target_hang_make(struct target_hang *aim, const struct trace_metadata *book,
                      const struct result_table *table, uint32_t row);
/* Does who waits in this run, whose lines `book` names, hang so? */
bool target_hang_matches(const struct target_hang *aim, const struct wait_list *waits,
                         const struct trace_metadata *book);
void target_hang_free(struct target_hang *aim);

#endif
