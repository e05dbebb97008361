/* Difference of two tables of the same kind from two runs: after each number, how much it
 * differs. */
#ifndef CLIENTS_CONNECTION_TABLE_DIFF_H
#define CLIENTS_CONNECTION_TABLE_DIFF_H

#include "clients/connection/result_table.h"

/* Rows match if they have the same text, without the line numbers of functions, and so do their
 * parents; of several equal rows the first matches the first, and so on. Rows that only the other
 * table has come last below their parent. Columns NAME_diff (here minus there; for NAME_ns
 * NAME_diff_ns) and NAME_percent (of the value there) follow each number. A row that one table
 * lacks is 0 there; but in tables of values with units of their own (those with a column "value"),
 * and in tables without rows, it was not measured, and has no difference. */
void table_diff_make(struct result_table *both, const struct result_table *here,
                     const struct table_names *here_names, const struct result_table *there,
                     const struct table_names *there_names);

#endif
