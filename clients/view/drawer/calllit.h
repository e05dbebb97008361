/* Which function of a table of calls lights up the bars of the picture (picture/lit.h). */
#ifndef CLIENTS_VIEW_DRAWER_CALLLIT_H
#define CLIENTS_VIEW_DRAWER_CALLLIT_H

#include "clients/source/table.h"

/* That of a row, within those that it lies below, of the thread that they stand for; new memory of
 * GLib's.  NULL: the row is of none. */
char *call_highlight_of_row(const struct table_names *names, const struct result_table *table,
                            int row);
/* The function itself, of one of these; address 0: it is none that has an address. */
struct table_place call_highlight_function(const char *lit);

#endif
