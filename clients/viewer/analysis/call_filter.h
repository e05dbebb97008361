/* Which rows of a table of calls are wanted: by a text in the names of functions. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H

#include "clients/connection/result_table.h"

#include <stdbool.h>

/* By row: it has the text in its name, in any case, or one that it lies in has, or one below it;
 * NULL: all are wanted.  To be freed by g_free. */
bool *call_filter_rows(const struct result_table *table, const struct table_names *names,
                       const char *text);

#endif
