/* poet calls --threads: one function over all threads, a column for each. */
#ifndef CLIENTS_CLI_CALLS_BY_THREAD_H
#define CLIENTS_CLI_CALLS_BY_THREAD_H

#include "clients/cli/table_options.h"

/* Asks for the calls by thread and makes that table of one of its columns ("self_ns", or without
 * _ns); an exit status, with complaints.  The table is the caller's to free in any case. */
int calls_by_thread_make(const struct table_settings *tables, const char *column,
                         struct command_source *subject, struct result_table *table);

#endif
