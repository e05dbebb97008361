/* Leak summary: heap memory that was never freed, in one line of the report of a run. */
#ifndef CLIENTS_CLI_MEMORY_H
#define CLIENTS_CLI_MEMORY_H

#include "clients/connection/result_table.h"

/* Adds "2 blocks, 2000 bytes; most of it: 2 blocks, 2000 bytes by T:worker, worker (leak.c:13) >
 * keep (leak.c:6)", from the table `memory`. */
void leak_summary_write(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *table);

#endif
