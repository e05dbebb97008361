/* The rows of a table as a tree, each below its own; and whether two of them are of the same
 * rows. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ROW_TREE_H
#define CLIENTS_VIEWER_ANALYSIS_ROW_TREE_H

#include "wire/table_rows.h"

#include <gio/gio.h>

/* Those of depth 0, with the others below them, as DrawerRow; the caller's. */
GPtrArray *row_tree_make(const struct result_table *table);
/* Are they about the same, one after the other, whatever their figures?  NULL: there are none. */
bool row_tree_same(GListModel *rows, GListModel *others);
/* Numbers them anew, from *number on, and tells each that it has changed. */
void row_tree_renumber(GListModel *rows, guint *number);

#endif
