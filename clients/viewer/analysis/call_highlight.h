/* The function of a call table whose share is highlighted in the diagram
 * (diagram/function_highlight.h). */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_HIGHLIGHT_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_HIGHLIGHT_H

#include "clients/connection/result_table.h"

/* Returns the highlight of a row: its function, within those above it, of the thread that they are
 * about; allocated by GLib. NULL: the row has no function. */
char *call_highlight_of_row(const struct table_names *names, const struct result_table *table,
                            int row);
/* Returns the function of such a highlight; address 0: it has no address. */
struct table_place call_highlight_function(const char *lit);

#endif
