/* Filter for the rows of a call table by a text in the names of functions. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H

#include "clients/connection/result_table.h"

#include <stdbool.h>

/* Returns, by row, whether its name or that of a row above or below it contains the text, ignoring
 * case; NULL: no filter. Free with g_free(). */
bool *call_filter_rows(const struct result_table *table, const struct table_names *names,
                       const char *text);

#endif
