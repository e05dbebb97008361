/* What hangs at the end of a run, as a table: threads in a cycle, and those that nobody can
 * wake. */
#ifndef CLIENTS_CLI_HANG_TABLE_H
#define CLIENTS_CLI_HANG_TABLE_H

#include "clients/cli/table_options.h"

/* Asks for it: an exit status, with a complaint.  The table is the caller's to free in any case. */
/* Threads that wait where their program ended by itself: neutral. */
int hang_table_at_exit(const struct table_settings *tables, struct command_source *subject,
                       struct result_table *table);
/* Threads that sleep in calls that are not traced. */
int hang_table_sleepers(const struct table_settings *tables, struct command_source *subject,
                        struct result_table *table);
int hang_table_request(const struct table_settings *tables, struct command_source *subject,
                       struct result_table *table);

#endif
