/* Call tables in the formats of other tools: helpers for all of them, and folded stacks for flame
 * graphs. */
#ifndef CLIENTS_CLI_PROFILE_FORMATS_H
#define CLIENTS_CLI_PROFILE_FORMATS_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Returns the name of a scope, in new memory. */
char *profile_format_scope(const struct table_names *names, const struct table_cell *cell);
/* Returns a number of a row; `otherwise` if it is missing. */
int64_t profile_format_number(const struct result_table *table, uint32_t row, const char *column,
                              int64_t otherwise);
/* Returns the measured column: "self_ns", or "calls" without times. */
const char *profile_format_measure(const struct result_table *table);

/* Writes a line for each path of a tree: "main;work;parse 1200". */
void profile_format_write_folded(FILE *f, const struct table_names *names,
                                 const struct result_table *table);

#endif
