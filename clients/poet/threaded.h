/* poet calls --threads: one function over all threads, a column for each. */
#ifndef CLIENTS_POET_THREADED_H
#define CLIENTS_POET_THREADED_H

#include "clients/poet/tables.h"

/* Asks for the calls by thread and makes that table of one of its columns ("self_ns", or without
 * _ns); an exit status, with complaints.  The table is the caller's to free in any case. */
int calls_by_thread_make(const struct table_settings *tables, const char *column,
                         struct command_source *subject, struct result_table *table);

#endif
