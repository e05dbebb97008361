/* A row of a table as a GTK list item: its index in the table, and the rows below it.
 *
 * The grid knows its contents (grid.h); the item emits "changed" when they change. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H

#include <gio/gio.h>

#define DRAWER_TYPE_ROW (drawer_row_get_type())
G_DECLARE_FINAL_TYPE(DrawerRow, drawer_row, DRAWER, ROW, GObject)

struct _DrawerRow {
    GObject parent_instance;
    guint row; /* of the table */
    guint64 key; /* identifies it in the next table */
    GListStore *below; /* rows of greater depth; NULL: none */
};

DrawerRow *drawer_row_new(guint row, guint64 key);
void drawer_row_add(DrawerRow *row, DrawerRow *below); /* takes ownership */
void drawer_row_changed(DrawerRow *row);

#endif
