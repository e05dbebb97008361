/* Tables are asked for: the question that options of a command make (tables.h), and what is wrong
 * with it. */
#ifndef CLIENTS_POET_TABLEASKING_H
#define CLIENTS_POET_TABLEASKING_H

#include "clients/poet/tables.h"

/* Says that a table has no such column, and which one may be meant; the command's status. */
int table_request_missing_column(const struct table_settings *tables,
                                 const struct result_table *table, const char *option,
                                 const char *column);

#endif
