/* A row of a table, as lists of GTK hold it: its number in the table, and the rows below it.
 *
 * What stands in it, the grid knows (grid.h); it says "changed" where that is another text now. */
#ifndef CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H
#define CLIENTS_VIEWER_ANALYSIS_GRID_ROW_H

#include <gio/gio.h>

#define DRAWER_TYPE_ROW (drawer_row_get_type())
G_DECLARE_FINAL_TYPE(DrawerRow, drawer_row, DRAWER, ROW, GObject)

struct _DrawerRow {
    GObject parent_instance;
    guint row; /* of the table */
    guint64 key; /* by which it is known again in the next table */
    GListStore *below; /* rows of greater depth; NULL: none */
};

DrawerRow *drawer_row_new(guint row, guint64 key);
void drawer_row_add(DrawerRow *row, DrawerRow *below); /* takes it over */
void drawer_row_changed(DrawerRow *row);

#endif
