/* The table of calls as other tools read it: what all of their formats need, and folded stacks for
 * flame graphs. */
#ifndef CLIENTS_CLI_PROFILE_FORMATS_H
#define CLIENTS_CLI_PROFILE_FORMATS_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* What a scope is called, new memory. */
char *profile_format_scope(const struct table_names *names, const struct table_cell *cell);
/* A number of a row; `otherwise` where there is none. */
int64_t profile_format_number(const struct result_table *table, uint32_t row, const char *column,
                              int64_t otherwise);
/* What is measured: "self_ns", or "calls" where no times are. */
const char *profile_format_measure(const struct result_table *table);

/* Of a tree: a line for each path, "main;work;parse 1200". */
void profile_format_write_folded(FILE *f, const struct table_names *names,
                                 const struct result_table *table);

#endif
