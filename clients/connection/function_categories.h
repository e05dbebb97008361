/* Categories of functions by name: descriptions assign them to names (config/target.h), but a
 * server that fills a table knows only addresses. */
#ifndef CLIENTS_CONNECTION_FUNCTION_CATEGORIES_H
#define CLIENTS_CONNECTION_FUNCTION_CATEGORIES_H

#include "clients/connection/result_table.h"

/* Returns whether any description of the run assigns categories to functions. */
bool function_categories_wanted(const struct trace_metadata *book);
/* Returns the enum target_category of a cell with a place or a name; CATEGORY_NONE if none is
 * assigned. */
uint8_t function_categories_of(const struct table_names *names, const struct table_cell *cell);
/* Returns the value of the option "category" of a table; calls: the table of that name, by
 * function. New memory; NULL if no function has a category. */
char *function_categories_named(const struct table_names *names, const struct result_table *calls);

#endif
