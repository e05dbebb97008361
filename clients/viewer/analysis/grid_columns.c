/* The columns of a grid (grid.h): the texts of their cells, and sorting by column. */
#include "clients/viewer/analysis/grid.h"

#include "clients/viewer/diagram/viewer.h"
#include "wire/table_rows.h"

#include <gtk/gtk.h>
#include <math.h>
#include <stdlib.h>

/* ---- cells: their widgets, and their comparison ---- */

static bool grid_cell_is_figure(unsigned kind)
{
    return kind == TABLE_NS || kind == TABLE_FINE || kind == TABLE_COUNT || kind == TABLE_SHARE;
}

/* Creates a label: numbers are aligned and never cut, texts are ellipsized in the middle. */
static GtkWidget *grid_cell_label(const struct table_column *column)
{
    GtkWidget *label = gtk_label_new("");
    bool figure = grid_cell_is_figure(column->kind);
    gtk_label_set_xalign(GTK_LABEL(label), figure ? 1 : 0);
    gtk_label_set_single_line_mode(GTK_LABEL(label), TRUE);
    if (figure) {
        gtk_widget_add_css_class(label, "numeric");
    } else {
        bool wide = column->kind == TABLE_STEP || column->kind == TABLE_PLACE;
        gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
        bool line = column->kind == TABLE_LINE; /* part of its name must be visible */
        gtk_label_set_width_chars(GTK_LABEL(label), wide ? 18 : line ? 14 : 9);
        gtk_label_set_max_width_chars(GTK_LABEL(label), wide ? 48 : 24);
    }
    gtk_widget_set_hexpand(label, TRUE);
    return label;
}

/* Gives the column space for all of its longest text, of `chars` characters, up to a maximum for
 * its kind of column. */
static void grid_cell_widen(GtkListItem *item, const struct table_column *column, glong chars)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    bool wide = column->kind == TABLE_STEP || column->kind == TABLE_PLACE;
    int most = wide ? 40 : column->kind == TABLE_LINE ? 34 : 24;
    if (grid_cell_is_figure(column->kind) || chars <= gtk_label_get_width_chars(GTK_LABEL(label)))
        return;
    gtk_label_set_width_chars(GTK_LABEL(label), (int)MIN(chars, most));
    gtk_label_set_max_width_chars(GTK_LABEL(label), MAX(most, wide ? 48 : 24));
}

/* Creates the widget of a cell of this column; first: it can be expanded and collapsed, if its row
 * has others below it. */
static void grid_cell_setup(GtkListItem *item, const struct table_column *column, bool first)
{
    GtkWidget *label = grid_cell_label(column), *child = label;
    if (first) {
        child = gtk_tree_expander_new();
        gtk_tree_expander_set_child(GTK_TREE_EXPANDER(child), label);
    }
    gtk_list_item_set_child(item, child);
    g_object_set_data(G_OBJECT(item), "label", label);
}

/* Binds it to its row; deep: some rows of the table can be expanded, so the others are indented. */
static void grid_cell_bind(GtkListItem *item, bool deep)
{
    GtkWidget *child = gtk_list_item_get_child(item);
    if (!GTK_IS_TREE_EXPANDER(child))
        return;
    gtk_tree_expander_set_list_row(GTK_TREE_EXPANDER(child), gtk_list_item_get_item(item));
    gtk_tree_expander_set_indent_for_icon(GTK_TREE_EXPANDER(child), deep);
}

static void grid_cell_fill(GtkListItem *item, const char *text)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    if (g_strcmp0(gtk_label_get_text(GTK_LABEL(label)), text) == 0)
        return;
    gtk_label_set_text(GTK_LABEL(label), text);
    gtk_widget_set_tooltip_text(label, gtk_label_get_ellipsize(GTK_LABEL(label)) ? text : NULL);
}

/* Prepares a cell with sentences as text: call once, after grid_cell_setup. */
static void grid_cell_set_sentences(GtkListItem *item)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_label_set_width_chars(GTK_LABEL(label), 40);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 160);
}

/* Prepares a cell with program text: call once, after grid_cell_setup. */
static void grid_cell_set_code(GtkListItem *item)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    gtk_widget_add_css_class(label, "monospace");
    grid_cell_set_sentences(item);
}

/* Shades the background: 0: not, 1: the darkest. */
static void grid_cell_set_shade(GtkListItem *item, double grey)
{
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    PangoAttrList *list = pango_attr_list_new();
    if (grey > 0.02) {
        pango_attr_list_insert(list, pango_attr_background_new(0x7000, 0x7000, 0x7000));
        pango_attr_list_insert(list, pango_attr_background_alpha_new((guint16)(grey * 0xb000)));
    }
    gtk_label_set_attributes(GTK_LABEL(label), list);
    pango_attr_list_unref(list);
}

#define CELL_BAR_CHARS 6

/* Shows a bar instead of text: 0: none, 1: the longest. */
static void grid_cell_set_bar(GtkListItem *item, double part)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    GtkWidget *label = g_object_get_data(G_OBJECT(item), "label");
    int n = (int)(part * CELL_BAR_CHARS * 8 + 0.5);
    GString *s = g_string_new(NULL);
    for (int i = 0; i < n / 8; i++)
        g_string_append(s, "█");
    g_string_append(s, eighths[n % 8]);
    gtk_label_set_text(GTK_LABEL(label), s->str);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_width_chars(GTK_LABEL(label), CELL_BAR_CHARS);
    gtk_widget_add_css_class(label, "dim-label");
    g_string_free(s, TRUE);
}

static bool grid_cell_is_number(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER || cell->is == CELL_REAL;
}

static double grid_cell_number_value(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? (double)cell->number
           : cell->is == CELL_REAL ? cell->real
                                   : -G_MAXDOUBLE;
}

/* Compares numbers; missing ones are least. */
static int grid_cell_compare(const struct table_cell *a, const struct table_cell *b)
{
    double x = grid_cell_number_value(a), y = grid_cell_number_value(b);
    return x < y ? -1 : x > y;
}

/* ---- columns ---- */

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

/* (A row of the previous table, which has more rows, can be bound again before it is removed.) */
static void fill_cell(GridRow *row, GtkListItem *item)
{
    struct grid_columns *all = g_object_get_data(G_OBJECT(item), "columns");
    if (row->row >= all->table->row_count)
        return;
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

static GridRow *grid_row_new(guint number, guint64 key)
{
    GridRow *row = g_object_new(GRID_TYPE_ROW, NULL);
    row->row = number;
    row->key = key;
    return row;
}

/* Adds a row below another, which takes ownership. */
static void grid_row_add(GridRow *row, GridRow *below)
{
    if (!row->below)
        row->below = g_list_store_new(GRID_TYPE_ROW);
    g_list_store_append(row->below, below);
    g_object_unref(below);
}

static void grid_row_changed(GridRow *row) { g_signal_emit(row, grid_row_changed_signal, 0); }

/* ---- trees ---- */

static guint64 grid_row_place_key(struct table_place place)
{
    return place.address * 31 + place.process;
}

/* Returns a hash of its contents, 0 for values; equal for equal contents. */
static guint64 grid_row_cell_key(const struct table_cell *cell, unsigned kind)
{
    if (kind == TABLE_NS || kind == TABLE_FINE || kind == TABLE_COUNT || kind == TABLE_SHARE)
        return 0;
    switch (cell->is) {
    case CELL_TEXT: /* "imbalance 60 %" contains a number, too */
        return strchr(cell->text, '%') ? 1 : g_str_hash(cell->text);
    case CELL_LINE:
        return cell->line * 7919u + 2;
    case CELL_PLACE:
        return grid_row_place_key(cell->place) + 3;
    case CELL_STEP:
        return grid_row_place_key(cell->between.from) * 17 + grid_row_place_key(cell->between.to) +
               cell->step;
    default:
        return 4;
    }
}

/* Returns what identifies a row in the next table: what it is about, not its figures, except for
 * the number of a source line, or the begin of an interval. */
static guint64 grid_row_key(const struct result_table *t, uint32_t row, guint64 above,
                            uint32_t line)
{
    const struct table_cell *cells = result_table_cells(t, row);
    guint64 key = above * 31 + t->rows[row].depth + 1;
    for (uint32_t i = 0; i < t->column_count; i++)
        key = key * 1099511628211u + grid_row_cell_key(&cells[i], t->columns[i].kind);
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
