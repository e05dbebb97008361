#include "clients/viewer/analysis/grid_row.h"

G_DEFINE_TYPE(DrawerRow, drawer_row, G_TYPE_OBJECT)

static guint grid_row_changed_signal;

static void drawer_row_finalize(GObject *object)
{
    g_clear_object(&DRAWER_ROW(object)->below);
    G_OBJECT_CLASS(drawer_row_parent_class)->finalize(object);
}

static void drawer_row_class_init(DrawerRowClass *class)
{
    G_OBJECT_CLASS(class)->finalize = drawer_row_finalize;
    grid_row_changed_signal = g_signal_new("changed", DRAWER_TYPE_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                                           NULL, NULL, G_TYPE_NONE, 0);
}

static void drawer_row_init(DrawerRow *row) { (void)row; }

DrawerRow *drawer_row_new(guint number, guint64 key)
{
    DrawerRow *row = g_object_new(DRAWER_TYPE_ROW, NULL);
    row->row = number;
    row->key = key;
    return row;
}

void drawer_row_add(DrawerRow *row, DrawerRow *below)
{
    if (!row->below)
        row->below = g_list_store_new(DRAWER_TYPE_ROW);
    g_list_store_append(row->below, below);
    g_object_unref(below);
}

void drawer_row_changed(DrawerRow *row) { g_signal_emit(row, grid_row_changed_signal, 0); }
