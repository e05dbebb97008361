#include "clients/viewer/analysis/row_tree.h"

#include "clients/viewer/analysis/grid_cell.h"
#include "clients/viewer/analysis/grid_row.h"

/* A row is known again by what it is about, not by its figures: but for the number of a line of a
 * file. */
static guint64 key_of(const struct result_table *t, uint32_t row, guint64 above, uint32_t line)
{
    const struct table_cell *cells = result_table_cells(t, row);
    guint64 key = above * 31 + t->rows[row].depth + 1;
    for (uint32_t i = 0; i < t->column_count; i++)
        key = key * 1099511628211u + grid_cell_key(&cells[i], t->columns[i].kind);
    if (line < t->column_count && cells[line].is == CELL_NUMBER)
        key = key * 1099511628211u + (guint64)cells[line].number;
    return key;
}

GPtrArray *row_tree_make(const struct result_table *t)
{
    GPtrArray *roots = g_ptr_array_new_with_free_func(g_object_unref);
    DrawerRow *last[256] = {NULL};
    uint32_t line = result_table_find_column(t, "line");
    for (uint32_t i = 0; i < t->row_count; i++) {
        unsigned depth = t->rows[i].depth;
        while (depth && !last[depth - 1])
            depth--;
        guint64 above = depth ? last[depth - 1]->key : 0;
        DrawerRow *row = drawer_row_new(i, key_of(t, i, above, line));
        if (depth)
            drawer_row_add(last[depth - 1], row);
        else
            g_ptr_array_add(roots, row);
        last[depth] = row;
        for (unsigned d = depth + 1; d < G_N_ELEMENTS(last) && last[d]; d++)
            last[d] = NULL;
    }
    return roots;
}

bool row_tree_same(GListModel *old, GListModel *new)
{
    guint n = old ? g_list_model_get_n_items(old) : 0;
    bool same = n == (new ? g_list_model_get_n_items(new) : 0);
    for (guint i = 0; same && i < n; i++) {
        DrawerRow *a = g_list_model_get_item(old, i), *b = g_list_model_get_item(new, i);
        same = a->key == b->key && row_tree_same(G_LIST_MODEL(a->below), G_LIST_MODEL(b->below));
        g_object_unref(a);
        g_object_unref(b);
    }
    return same;
}

void row_tree_renumber(GListModel *rows, guint *number)
{
    for (guint i = 0; rows && i < g_list_model_get_n_items(rows); i++) {
        DrawerRow *row = g_list_model_get_item(rows, i);
        row->row = (*number)++;
        drawer_row_changed(row);
        row_tree_renumber(G_LIST_MODEL(row->below), number);
        g_object_unref(row);
    }
}
