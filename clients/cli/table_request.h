/* Table requests, made from the options of a command (table_options.h), and their errors. */
#ifndef CLIENTS_CLI_TABLE_REQUEST_H
#define CLIENTS_CLI_TABLE_REQUEST_H

#include "clients/cli/table_options.h"

/* Reports that a table has no such column, with the most similar one; returns the exit status. */
int table_request_missing_column(const struct table_settings *tables,
                                 const struct result_table *table, const char *option,
                                 const char *column);

#endif
