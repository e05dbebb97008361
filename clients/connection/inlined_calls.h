/* Sampled calls with inlined functions: a call tree of the server, which has call sites and
 * instructions, becomes one in which each function that the compiler inlined there is a call of its
 * own, with its share of the samples.  The server knows addresses only; the debug information says
 * where functions were inlined. */
#ifndef CLIENTS_CONNECTION_INLINED_CALLS_H
#define CLIENTS_CONNECTION_INLINED_CALLS_H

#include "clients/connection/result_table.h"

struct inlined_calls_options {
    bool tree; /* else a row for each function */
    bool by_thread; /* rows of depth 0 are threads */
    const char *sort; /* a column; NULL: total time of a tree, self time of functions */
    bool backwards; /* ascending */
    uint32_t top; /* maximum number of rows of the least depth; 0: all */
};

/* Changes a table of calls that was requested with the option "points"; does nothing to one without
 * samples.  Inlined functions are marked "inlined", and a note says what is in code without debug
 * information, where they are not known. */
void inlined_calls_expand(struct result_table *table, const struct inlined_calls_options *how,
                          const struct table_names *names);

#endif
