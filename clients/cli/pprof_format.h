/* Calls as a profile of pprof (profile.proto), not compressed: a sample is a path, with how often
 * its last function was called there and what it took itself. */
#ifndef CLIENTS_CLI_PPROF_FORMAT_H
#define CLIENTS_CLI_PPROF_FORMAT_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Of a tree. */
void pprof_write(FILE *f, const struct table_names *names, const struct result_table *table);

#endif
