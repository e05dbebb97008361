#include "clients/viewer/analysis/grid_row.h"

#include "clients/viewer/analysis/grid_cell.h"

G_DEFINE_TYPE(GridRow, grid_row, G_TYPE_OBJECT)

static guint grid_row_changed_signal;

static void grid_row_finalize(GObject *object)
{
    g_clear_object(&GRID_ROW(object)->below);
    G_OBJECT_CLASS(grid_row_parent_class)->finalize(object);
}

static void grid_row_class_init(GridRowClass *class)
{
    G_OBJECT_CLASS(class)->finalize = grid_row_finalize;
    grid_row_changed_signal = g_signal_new("changed", GRID_TYPE_ROW, G_SIGNAL_RUN_LAST, 0, NULL,
                                           NULL, NULL, G_TYPE_NONE, 0);
}

static void grid_row_init(GridRow *row) { (void)row; }

GridRow *grid_row_new(guint number, guint64 key)
{
    GridRow *row = g_object_new(GRID_TYPE_ROW, NULL);
    row->row = number;
    row->key = key;
    return row;
}

void grid_row_add(GridRow *row, GridRow *below)
{
    if (!row->below)
        row->below = g_list_store_new(GRID_TYPE_ROW);
    g_list_store_append(row->below, below);
    g_object_unref(below);
}

void grid_row_changed(GridRow *row) { g_signal_emit(row, grid_row_changed_signal, 0); }

/* ---- trees ---- */

/* Returns what identifies a row in the next table: what it is about, not its figures, except for
 * the number of a source line, or the begin of an interval. */
static guint64 grid_row_key(const struct result_table *t, uint32_t row, guint64 above,
                            uint32_t line)
{
    const struct table_cell *cells = result_table_cells(t, row);
    guint64 key = above * 31 + t->rows[row].depth + 1;
    for (uint32_t i = 0; i < t->column_count; i++)
        key = key * 1099511628211u + grid_cell_key(&cells[i], t->columns[i].kind);
    if (line < t->column_count && cells[line].is == CELL_NUMBER)
        key = key * 1099511628211u + (guint64)cells[line].number;
    return key;
}

GPtrArray *grid_row_make_tree(const struct result_table *t)
{
    GPtrArray *roots = g_ptr_array_new_with_free_func(g_object_unref);
    GridRow *last[256] = {NULL};
    uint32_t line = result_table_find_column(t, "line"),
             from = result_table_find_column(t, "from_ns");
    if (line == t->column_count && from < t->column_count && !t->columns[from].detail)
        line = from;
    for (uint32_t i = 0; i < t->row_count; i++) {
        unsigned depth = t->rows[i].depth;
        while (depth && !last[depth - 1])
            depth--;
        guint64 above = depth ? last[depth - 1]->key : 0;
        GridRow *row = grid_row_new(i, grid_row_key(t, i, above, line));
        if (depth)
            grid_row_add(last[depth - 1], row);
        else
            g_ptr_array_add(roots, row);
        last[depth] = row;
        for (unsigned d = depth + 1; d < G_N_ELEMENTS(last) && last[d]; d++)
            last[d] = NULL;
    }
    return roots;
}

bool grid_row_same_trees(GListModel *old, GListModel *new)
{
    guint n = old ? g_list_model_get_n_items(old) : 0;
    bool same = n == (new ? g_list_model_get_n_items(new) : 0);
    for (guint i = 0; same && i < n; i++) {
        GridRow *a = g_list_model_get_item(old, i), *b = g_list_model_get_item(new, i);
        same =
            a->key == b->key && grid_row_same_trees(G_LIST_MODEL(a->below), G_LIST_MODEL(b->below));
        g_object_unref(a);
        g_object_unref(b);
    }
    return same;
}

void grid_row_renumber(GListModel *rows, guint *number)
{
    for (guint i = 0; rows && i < g_list_model_get_n_items(rows); i++) {
        GridRow *row = g_list_model_get_item(rows, i);
        row->row = (*number)++;
        grid_row_changed(row);
        grid_row_renumber(G_LIST_MODEL(row->below), number);
        g_object_unref(row);
    }
}
