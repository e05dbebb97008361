/* What was never given back of the heap, in a line of the page about a run. */
#ifndef CLIENTS_CLI_LEAK_SUMMARY_H
#define CLIENTS_CLI_LEAK_SUMMARY_H

#include "clients/connection/result_table.h"

/* "2 blocks, 2000 bytes; most of it: 2 blocks, 2000 bytes by T:worker, worker (leak.c:13) > keep
 * (leak.c:6)", of the table `memory`. */
void leak_summary_write(struct text_table *sheet, const struct table_names *names,
                        const struct result_table *table);

#endif
