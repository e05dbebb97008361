#include "clients/viewer/analysis/grid_columns.h"

#include "clients/viewer/analysis/grid_cell.h"
#include "clients/viewer/analysis/grid_row.h"
#include "clients/viewer/diagram/viewer.h"

#include <math.h>
#include <stdlib.h>

/* Returns the share of a row, relative to the greatest one. */
static double part_of(const struct grid_columns *all, uint32_t row)
{
    uint32_t column = result_table_find_column(all->table, "share");
    const struct table_cell *cell = &result_table_cells(all->table, row)[column];
    bool known = column < all->table->column_count && cell->is == CELL_REAL && all->most > 0;
    return known ? CLAMP(cell->real / all->most, 0, 1) : 0;
}

static void grid_columns_find_max_share(struct grid_columns *all)
{
    uint32_t column = result_table_find_column(all->table, "share");
    all->most = 0;
    for (uint32_t i = 0; column < all->table->column_count && i < all->table->row_count; i++)
        if (result_table_cells(all->table, i)[column].is == CELL_REAL)
            all->most = fmax(all->most, result_table_cells(all->table, i)[column].real);
}

static void on_setup(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct grid_columns *all = data;
    uint32_t column = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(factory), "column"));
    bool first = g_object_get_data(G_OBJECT(factory), "first") != NULL;
    const struct table_column *of = &all->table->columns[all->shown[column].column];
    grid_cell_setup(item, of, first);
    if (all->shown[column].style & GRID_CODE)
        grid_cell_set_code(item);
    if (all->shown[column].style & GRID_WORDS)
        grid_cell_set_sentences(item);
}

/* Returns the column of the table that a row shows: the other one if the first is empty. */
static uint32_t column_in(const struct grid_columns *all, uint32_t row, uint32_t shown)
{
    const struct grid_shown_column *s = &all->shown[shown];
    const struct table_cell *cells = result_table_cells(all->table, row);
    bool other = cells[s->column].is == CELL_NULL && s->other < all->table->column_count &&
                 !(s->style & GRID_SHADED);
    return other ? s->other : s->column;
}

static bool is_nothing(const struct table_cell *cell)
{
    return cell->is == CELL_NULL || (cell->is == CELL_NUMBER && !cell->number) ||
           (cell->is == CELL_REAL && cell->real < 0.0005);
}

/* Returns "14" or "12-15". */
static char *grid_columns_format_range(const struct grid_columns *all, uint32_t row,
                                       const struct grid_shown_column *s)
{
    const struct table_cell *cells = result_table_cells(all->table, row);
    if (s->other < all->table->column_count && cells[s->other].is == CELL_NUMBER)
        return g_strdup_printf("%lld-%lld", (long long)cells[s->column].number,
                               (long long)cells[s->other].number);
    return g_strdup_printf("%lld", (long long)cells[s->column].number);
}

char *grid_columns_text(struct grid_columns *all, uint32_t row, uint32_t shown)
{
    struct table_names names = {view_metadata(all->view), all->view->server_link.sites};
    uint32_t column = column_in(all, row, shown);
    const struct table_cell *cell = &result_table_cells(all->table, row)[column];
    bool blank = all->shown[shown].style & GRID_BLANK && is_nothing(cell);
    if (blank || all->shown[shown].style & GRID_BAR)
        return g_strdup("");
    if (all->shown[shown].style & GRID_SHADED)
        return grid_columns_format_range(all, row, &all->shown[shown]);
    if (cell->is == CELL_NULL && all->table->rows[row].depth)
        return g_strdup("");
    return result_table_cell_text(&names, &all->table->columns[column], cell);
}

static void fill_cell(GridRow *row, GtkListItem *item)
{
    struct grid_columns *all = g_object_get_data(G_OBJECT(item), "columns");
    uint32_t column = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(item), "column"));
    char *text = grid_columns_text(all, row->row, column);
    if (!(all->shown[column].style & (GRID_CODE | GRID_WORDS)))
        grid_cell_widen(item, &all->table->columns[all->shown[column].column],
                        all->shown[column].chars);
    grid_cell_fill(item, text);
    free(text);
    if (all->shown[column].style & GRID_SHADED)
        grid_cell_set_shade(item, sqrt(part_of(all, row->row)));
    if (all->shown[column].style & GRID_BAR)
        grid_cell_set_bar(item, part_of(all, row->row));
}

static void on_bind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    GridRow *row = gtk_tree_list_row_get_item(gtk_list_item_get_item(item));
    g_object_set_data_full(G_OBJECT(item), "row", row, g_object_unref);
    g_object_set_data(G_OBJECT(item), "columns", data);
    g_object_set_data(G_OBJECT(item), "column", g_object_get_data(G_OBJECT(factory), "column"));
    grid_cell_bind(item, ((struct grid_columns *)data)->deep);
    fill_cell(row, item);
    g_signal_connect(row, "changed", G_CALLBACK(fill_cell), item);
}

/* Uses the row that is attached to the item: the list may have dropped it already. */
static void on_unbind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    (void)factory;
    (void)data;
    g_signal_handlers_disconnect_by_data(g_object_get_data(G_OBJECT(item), "row"), item);
    g_object_set_data(G_OBJECT(item), "row", NULL);
}

struct grid_sorting {
    struct grid_columns *columns;
    uint32_t column;
};

static int grid_columns_compare_rows(gconstpointer a, gconstpointer b, gpointer data)
{
    const struct grid_sorting *s = data;
    struct grid_columns *all = s->columns;
    uint32_t x = ((const GridRow *)a)->row, y = ((const GridRow *)b)->row;
    if (!all->table || x >= all->table->row_count || y >= all->table->row_count)
        return 0;
    const struct table_cell *p = &result_table_cells(all->table, x)[column_in(all, x, s->column)],
                            *q = &result_table_cells(all->table, y)[column_in(all, y, s->column)];
    if (grid_cell_is_number(p) || grid_cell_is_number(q) || p->is == CELL_NULL ||
        q->is == CELL_NULL)
        return grid_cell_compare(p, q);
    char *one = grid_columns_text(all, x, s->column), *other = grid_columns_text(all, y, s->column);
    int order = g_utf8_collate(one, other);
    free(one);
    free(other);
    return order;
}

/* Takes ownership of title. */
static void add_column(struct grid_columns *all, uint32_t shown, char *title)
{
    const struct table_column *c = &all->table->columns[all->shown[shown].column];
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    struct grid_sorting *sorting = g_new(struct grid_sorting, 1);
    *sorting = (struct grid_sorting){all, shown};
    g_object_set_data(G_OBJECT(factory), "column", GUINT_TO_POINTER(shown));
    g_object_set_data(G_OBJECT(factory), "first", shown ? NULL : all);
    g_signal_connect(factory, "setup", G_CALLBACK(on_setup), all);
    g_signal_connect(factory, "bind", G_CALLBACK(on_bind), all);
    g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), all);
    GtkColumnViewColumn *made = gtk_column_view_column_new(title, factory);
    GtkSorter *sorter =
        GTK_SORTER(gtk_custom_sorter_new(grid_columns_compare_rows, sorting, g_free));
    gtk_column_view_column_set_sorter(made, sorter);
    gtk_column_view_column_set_resizable(made, TRUE);
    gtk_column_view_column_set_expand(made, c->kind == TABLE_STEP || c->kind == TABLE_PLACE ||
                                                c->kind == TABLE_LINE ||
                                                all->shown[shown].style & (GRID_CODE | GRID_WORDS));
    gtk_column_view_append_column(GTK_COLUMN_VIEW(all->widget), made);
    g_object_unref(sorter);
    g_object_unref(made);
    free(title);
}

static void grid_columns_add_requested(struct grid_columns *all, const struct grid_column *wanted)
{
    uint32_t column = result_table_find_column(all->table, wanted->name),
             none = all->table->column_count;
    uint32_t other = wanted->other ? result_table_find_column(all->table, wanted->other) : none;
    if (column == none)
        return;
    all->shown[all->shown_count++] =
        (struct grid_shown_column){.column = column,
                                   .other = other,
                                   .style = all->styles ? all->styles[wanted - all->wanted] : 0};
    add_column(all, all->shown_count - 1,
               wanted->title ? g_strdup(wanted->title)
                             : result_table_title_text(&all->table->columns[column]));
}

static void add_all(struct grid_columns *all)
{
    char *unknown = NULL;
    uint32_t count, *chosen = result_table_choose_columns(all->table, NULL, &count, &unknown);
    for (uint32_t i = 0; i < count; i++) {
        all->shown[all->shown_count++] =
            (struct grid_shown_column){.column = chosen[i], .other = all->table->column_count};
        add_column(all, i, result_table_title_text(&all->table->columns[chosen[i]]));
    }
    free(chosen);
}

#define LOOKED_AT 200u /* first rows, which determine the width */

static glong grid_columns_longest_text(struct grid_columns *all, uint32_t shown)
{
    glong most = 0;
    for (uint32_t i = 0; i < all->table->row_count && i < LOOKED_AT; i++) {
        char *text = grid_columns_text(all, i, shown);
        most = MAX(most, g_utf8_strlen(text, -1));
        free(text);
    }
    return most;
}

/* Returns what identifies the columns that a table shows. */
static guint grid_columns_key(const struct result_table *t)
{
    guint key = 0;
    for (uint32_t i = 0; i < t->column_count; i++)
        key = key * 31 + g_str_hash(t->columns[i].name) + t->columns[i].detail;
    return key;
}

static void grid_columns_replace(struct grid_columns *all)
{
    GListModel *columns = gtk_column_view_get_columns(GTK_COLUMN_VIEW(all->widget));
    while (g_list_model_get_n_items(columns)) {
        GtkColumnViewColumn *column = g_list_model_get_item(columns, 0);
        gtk_column_view_remove_column(GTK_COLUMN_VIEW(all->widget), column);
        g_object_unref(column);
    }
    all->shown_count = 0;
    if (!all->wanted)
        add_all(all);
    for (const struct grid_column *c = all->wanted; c && c->name; c++)
        grid_columns_add_requested(all, c);
}

void grid_columns_make(struct grid_columns *all)
{
    guint key = grid_columns_key(all->table);
    grid_columns_find_max_share(all);
    if (!all->table->column_count)
        return;
    if (all->key != key)
        grid_columns_replace(all);
    all->key = key;
    for (uint32_t i = 0; i < all->shown_count; i++)
        all->shown[i].chars = MAX(all->shown[i].chars, grid_columns_longest_text(all, i));
}

void grid_columns_resort(struct grid_columns *all)
{
    grid_columns_find_max_share(all);
    GtkSorter *sorter = gtk_column_view_get_sorter(GTK_COLUMN_VIEW(all->widget));
    gtk_sorter_changed(sorter, GTK_SORTER_CHANGE_DIFFERENT);
}
