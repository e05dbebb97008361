/* Two tables of the same kind of two runs in one: beside each number how much more it is here than
 * there. */
#ifndef CLIENTS_CONNECTION_TABLE_DIFF_H
#define CLIENTS_CONNECTION_TABLE_DIFF_H

#include "clients/connection/result_table.h"

/* Rows belong together that say the same in words, as do those that they belong to; of several
 * alike the first with the first.  What only the other has comes last.  Columns NAME_diff (here
 * minus there; of a NAME_ns NAME_diff_ns) and NAME_percent (of what it is there) come behind each
 * number. */
void table_diff_make(struct result_table *both, const struct result_table *here,
                     const struct table_names *here_names, const struct result_table *there,
                     const struct table_names *there_names);

#endif
