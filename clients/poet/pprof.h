/* Calls as a profile of pprof (profile.proto), not compressed: a sample is a path, with how often
 * its last function was called there and what it took itself. */
#ifndef CLIENTS_POET_PPROF_H
#define CLIENTS_POET_PPROF_H

#include "clients/source/table.h"

#include <stdio.h>

/* Of a tree. */
void pprof_write(FILE *f, const struct table_names *names, const struct result_table *table);

#endif
