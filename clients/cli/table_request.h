/* Tables are asked for: the question that options of a command make (table_options.h), and what is
 * wrong with it. */
#ifndef CLIENTS_CLI_TABLE_REQUEST_H
#define CLIENTS_CLI_TABLE_REQUEST_H

#include "clients/cli/table_options.h"

/* Says that a table has no such column, and which one may be meant; the command's status. */
int table_request_missing_column(const struct table_settings *tables,
                                 const struct result_table *table, const char *option,
                                 const char *column);

#endif
