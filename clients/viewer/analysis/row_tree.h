/* The rows of a table as a tree; and the comparison of two such trees. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ROW_TREE_H
#define CLIENTS_VIEWER_ANALYSIS_ROW_TREE_H

#include "wire/table_rows.h"

#include <gio/gio.h>

/* Returns the rows of depth 0, with the others below them, as DrawerRow; the caller frees it. */
GPtrArray *row_tree_make(const struct result_table *table);
/* Returns whether both have the same subjects in the same order, whatever their values. NULL: no
 * rows. */
bool row_tree_same(GListModel *rows, GListModel *others);
/* Renumbers the rows from *number on, and emits "changed" for each. */
void row_tree_renumber(GListModel *rows, guint *number);

#endif
