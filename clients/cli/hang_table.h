/* Tables of what hangs at the end of a run: threads in a deadlock cycle, and threads that no thread
 * can wake. */
#ifndef CLIENTS_CLI_HANG_TABLE_H
#define CLIENTS_CLI_HANG_TABLE_H

#include "clients/cli/table_options.h"

/* These functions request the data and return an exit status, after reporting errors. The caller
 * frees the table in any case. */
/* Threads that wait although their program ended by itself: not an error. */
int hang_table_at_exit(const struct table_settings *tables, struct command_source *subject,
                       struct result_table *table);
/* Threads that sleep in untraced calls. */
int hang_table_sleepers(const struct table_settings *tables, struct command_source *subject,
                        struct result_table *table);
/* Threads in a deadlock cycle, and threads that no thread can wake. */
int hang_table_request(const struct table_settings *tables, struct command_source *subject,
                       struct result_table *table);

#endif
