/* Of which category functions are by their names: descriptions say it of names (config/target.h),
 * and a server that is asked for a table knows places alone. */
#ifndef CLIENTS_CONNECTION_FUNCTION_CATEGORIES_H
#define CLIENTS_CONNECTION_FUNCTION_CATEGORIES_H

#include "clients/connection/result_table.h"

/* Does any description of the run say so of any? */
bool function_categories_wanted(const struct trace_metadata *book);
/* Of a cell that is a place or a name: an enum target_category; none: nothing is said of it. */
uint8_t function_categories_of(const struct table_names *names, const struct table_cell *cell);
/* For the option "category" of a table; calls: the table of that name, by function.  New memory;
 * NULL: none is of any. */
char *function_categories_named(const struct table_names *names, const struct result_table *calls);

#endif
