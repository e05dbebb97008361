/* The table of calls as other tools read it: callgrind's files, folded stacks for flame graphs, profiles of pprof. */
#ifndef CLIENTS_POET_DIALECTS_H
#define CLIENTS_POET_DIALECTS_H

#include "clients/source/table.h"

#include <stdio.h>

struct dialect {
    const char *name;
    bool graph; /* it is made of who calls whom, else of paths */
    void (*write)(FILE *f, const struct table_names *names, const struct shown_table *table);
};

/* NULL: there is none of that name. */
const struct dialect *dialects_find(const char *name);

/* ---- for those that write one ---- */

/* What a scope is called, new memory. */
char *dialects_scope(const struct table_names *names, const struct table_cell *cell);
/* A number of a row; `otherwise` where there is none. */
int64_t dialects_number(const struct shown_table *table, uint32_t row, const char *column,
                        int64_t otherwise);
/* What is measured: "self_ns", or "calls" where no times are. */
const char *dialects_measure(const struct shown_table *table);

void callgrind_write(FILE *f, const struct table_names *names, const struct shown_table *table);
void pprof_write(FILE *f, const struct table_names *names, const struct shown_table *table);

#endif
