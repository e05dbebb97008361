/* Grouping of the functions of a call table by source file, or by category (scopes in a
 * description). File and name of an address are known where the debug information is, so the client
 * makes the groups: a server that fills a table knows only addresses. */
#ifndef CLIENTS_CONNECTION_CALL_GROUPS_H
#define CLIENTS_CONNECTION_CALL_GROUPS_H

#include "clients/connection/result_table.h"

/* ---- categories, which descriptions assign to names (config/target.h) ---- */

/* Returns whether any description of the run assigns categories to functions. */
bool call_groups_have_categories(const struct trace_metadata *book);
/* Returns the value of the option "category" of a table; calls: the table of that name, by
 * function. New memory; NULL if no function has a category. */
char *call_groups_category_option(const struct table_names *names,
                                  const struct result_table *calls);

/* ---- groups ---- */

struct call_groups_options {
    const char *by; /* "file" or "category" */
    bool tree; /* list the functions of each group below it */
    const char *sort; /* a column, descending; NULL: own time */
    bool backwards; /* ascending */
    uint32_t top; /* maximum number of groups; 0: all */
};

bool call_groups_is_grouping(const char *by); /* NULL: no */
/* Makes a table with a row for each group from the table of calls by function (flat). Columns that
 * cannot be summed (minimum, maximum, total) are omitted: the total time of a function is part of
 * the times of several groups. Returns false if the column to sort by is missing. */
bool call_groups_make(struct result_table *to, const struct call_groups_options *how,
                      const struct table_names *names, const struct result_table *calls);

#endif
