/* Which function of a table of calls lights up the bars of the picture
 * (diagram/function_highlight.h). */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_HIGHLIGHT_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_HIGHLIGHT_H

#include "clients/connection/result_table.h"

/* That of a row, within those that it lies below, of the thread that they stand for; new memory of
 * GLib's.  NULL: the row is of none. */
char *call_highlight_of_row(const struct table_names *names, const struct result_table *table,
                            int row);
/* The function itself, of one of these; address 0: it is none that has an address. */
struct table_place call_highlight_function(const char *lit);

#endif
