/* Call tables as a pprof profile (profile.proto), uncompressed: a sample is a path, with the call
 * count of its last function there and its own time. */
#ifndef CLIENTS_CLI_PPROF_FORMAT_H
#define CLIENTS_CLI_PPROF_FORMAT_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Writes a tree. */
void pprof_write(FILE *f, const struct table_names *names, const struct result_table *table);

#endif
