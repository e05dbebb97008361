/* poet calls --per-thread: functions by thread, a column for each thread. */
#ifndef CLIENTS_CLI_CALLS_BY_THREAD_H
#define CLIENTS_CLI_CALLS_BY_THREAD_H

#include "clients/cli/table_options.h"

/* Requests the calls by thread and makes that table of one of its columns ("self_ns", or without
 * _ns). Returns an exit status, after reporting errors. The caller frees the table in any case. */
int calls_by_thread_make(const struct table_settings *tables, const char *column,
                         struct command_source *subject, struct result_table *table);

#endif
