/* Calls as callgrind writes them, for callgrind_annotate and KCachegrind (Callgrind Format
 * Specification, version 1).
 *
 * A file names functions and what each took itself, and under it each function that it calls, how
 * often, and what that took in all; the sum of what all took themselves is the total. */
#ifndef CLIENTS_CLI_CALLGRIND_FORMAT_H
#define CLIENTS_CLI_CALLGRIND_FORMAT_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Of a table of who calls whom. */
void callgrind_write(FILE *f, const struct table_names *names, const struct result_table *table);

#endif
