/* Call tables in callgrind format, for callgrind_annotate and KCachegrind (Callgrind Format
 * Specification, version 1).
 *
 * A file lists functions with their own costs, and below each its callees with call counts and
 * inclusive costs; the total is the sum of all own costs. */
#ifndef CLIENTS_CLI_CALLGRIND_FORMAT_H
#define CLIENTS_CLI_CALLGRIND_FORMAT_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Writes a call graph table. */
void callgrind_write(FILE *f, const struct table_names *names, const struct result_table *table);

#endif
