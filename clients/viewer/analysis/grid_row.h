/* The rows of a table as GTK list items, in a tree: each has its index in the table and the rows
 * below it.
 *
 * The grid knows their contents (grid.h); an item emits "changed" when they change. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H

#include "wire/table_rows.h"

#include <gio/gio.h>

#define GRID_TYPE_ROW (grid_row_get_type())
G_DECLARE_FINAL_TYPE(GridRow, grid_row, GRID, ROW, GObject)

struct _GridRow {
    GObject parent_instance;
    guint row; /* of the table */
    guint64 key; /* identifies it in the next table */
    GListStore *below; /* rows of greater depth; NULL: none */
};

GridRow *grid_row_new(guint row, guint64 key);
void grid_row_add(GridRow *row, GridRow *below); /* takes ownership */
void grid_row_changed(GridRow *row);

/* Returns the rows of depth 0, with the others below them; the caller frees it. */
GPtrArray *grid_row_make_tree(const struct result_table *table);
/* Returns whether both have the same subjects in the same order, whatever their values. NULL: no
 * rows. */
bool grid_row_same_trees(GListModel *rows, GListModel *others);
/* Renumbers the rows from *number on, and emits "changed" for each. */
void grid_row_renumber(GListModel *rows, guint *number);

#endif
