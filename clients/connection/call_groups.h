/* The functions of a table of calls in groups: those of one source file, or of one category (scopes
 * in a description).  Which file and what name an address has is known where the debug information
 * is, so groups are made here. */
#ifndef CLIENTS_CONNECTION_CALL_GROUPS_H
#define CLIENTS_CONNECTION_CALL_GROUPS_H

#include "clients/connection/result_table.h"

struct call_groups_options {
    const char *by; /* "file" or "category" */
    bool tree; /* under each group its functions */
    const char *sort; /* a column, most first; NULL: by what they took themselves */
    bool backwards; /* the least first */
    uint32_t top; /* so many groups; 0: all */
};

bool call_groups_is_grouping(const char *by); /* NULL: no */
/* A row a group, of the table of calls by function (flat).  What cannot be added up (least, most,
 * total) has no column: what a function took with all that it called lies in the times of several
 * groups.  False: there is no such column. */
bool call_groups_make(struct result_table *to, const struct call_groups_options *how,
                      const struct table_names *names, const struct result_table *calls);

#endif
