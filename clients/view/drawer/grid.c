#include "clients/view/drawer/grid.h"

#include "clients/view/drawer/cell.h"
#include "clients/view/drawer/row.h"
#include "clients/view/picture/view.h"
#include "wire/limits.h"

#include <stdlib.h>

struct grid {
    struct view *view;
    const struct grid_ears *ears;
    void *user;
    const struct shown_table *table;
    GtkWidget *scrolled, *widget;
    GListStore *store;
    GtkTreeListModel *tree;
    GtkSortListModel *sorted;
    GtkSingleSelection *selection;
    const struct grid_column *wanted; /* NULL: all */
    struct shown { /* a column: of the table, and what stands in for it; column_count: nothing */
        uint32_t column, other;
    } shown[LIMIT_TABLE_COLUMNS];
    uint32_t shown_count, column_count; /* column_count: of the table that they were made for */
    bool quiet; /* it is being filled: nobody selects */
    bool wants_focus;
    double scroll; /* to be restored */
    guint restoring;
};

/* ---- rows ---- */

static GListModel *rows_below(gpointer item, gpointer user)
{
    DrawerRow *row = DRAWER_ROW(item);
    (void)user;
    return row->below ? G_LIST_MODEL(g_object_ref(row->below)) : NULL;
}

static DrawerRow *row_at(struct grid *g, guint position)
{
    GtkTreeListRow *at = g_list_model_get_item(G_LIST_MODEL(g->selection), position);
    DrawerRow *row = at ? gtk_tree_list_row_get_item(at) : NULL;
    g_clear_object(&at);
    if (row)
        g_object_unref(row); /* the store has it */
    return row;
}

static guint row_count(struct grid *g)
{
    return g_list_model_get_n_items(G_LIST_MODEL(g->selection));
}

int grid_selected(const struct grid *g)
{
    GtkTreeListRow *at = gtk_single_selection_get_selected_item(g->selection);
    DrawerRow *row = at ? gtk_tree_list_row_get_item(at) : NULL;
    int number = row ? (int)row->row : -1;
    g_clear_object(&row);
    return number;
}

/* A row is known again by what it is about, not by its figures. */
static guint64 key_of(const struct shown_table *t, uint32_t row, guint64 above)
{
    const struct table_cell *cells = table_cells(t, row);
    guint64 key = above * 31 + t->rows[row].depth + 1;
    for (uint32_t i = 0; i < t->column_count; i++)
        key = key * 1099511628211u + cell_key(&cells[i], t->columns[i].kind);
    return key;
}

/* All rows of the table, each below its own. */
static GPtrArray *make_rows(const struct shown_table *t)
{
    GPtrArray *roots = g_ptr_array_new_with_free_func(g_object_unref);
    DrawerRow *last[256] = {NULL};
    for (uint32_t i = 0; i < t->row_count; i++) {
        unsigned depth = t->rows[i].depth;
        while (depth && !last[depth - 1])
            depth--;
        guint64 above = depth ? last[depth - 1]->key : 0;
        DrawerRow *row = drawer_row_new(i, key_of(t, i, above));
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

/* ---- filling it again ---- */

static bool same_rows(GListModel *old, GListModel *new)
{
    guint n = old ? g_list_model_get_n_items(old) : 0;
    bool same = n == (new ? g_list_model_get_n_items(new) : 0);
    for (guint i = 0; same && i < n; i++) {
        DrawerRow *a = g_list_model_get_item(old, i), *b = g_list_model_get_item(new, i);
        same = a->key == b->key && same_rows(G_LIST_MODEL(a->below), G_LIST_MODEL(b->below));
        g_object_unref(a);
        g_object_unref(b);
    }
    return same;
}

static void renumber(GListModel *rows, guint *number)
{
    for (guint i = 0; rows && i < g_list_model_get_n_items(rows); i++) {
        DrawerRow *row = g_list_model_get_item(rows, i);
        row->row = (*number)++;
        drawer_row_changed(row);
        renumber(G_LIST_MODEL(row->below), number);
        g_object_unref(row);
    }
}

static gboolean on_restore(gpointer data)
{
    struct grid *g = data;
    g->restoring = 0;
    GtkAdjustment *down = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(g->scrolled));
    gtk_adjustment_set_value(down, g->scroll);
    return G_SOURCE_REMOVE;
}

/* Those that are shut, by their keys. */
static GHashTable *shut_rows(struct grid *g)
{
    GHashTable *shut = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < row_count(g); i++) {
        GtkTreeListRow *at = g_list_model_get_item(G_LIST_MODEL(g->selection), i);
        DrawerRow *row = row_at(g, i);
        if (row->below && !gtk_tree_list_row_get_expanded(at))
            g_hash_table_add(shut, g_memdup2(&row->key, sizeof row->key));
        g_object_unref(at);
    }
    return shut;
}

static void shut_again(struct grid *g, GHashTable *shut)
{
    for (guint i = 0; g_hash_table_size(shut) && i < row_count(g); i++) {
        DrawerRow *row = row_at(g, i);
        if (!g_hash_table_contains(shut, &row->key))
            continue;
        GtkTreeListRow *at = g_list_model_get_item(G_LIST_MODEL(g->selection), i);
        gtk_tree_list_row_set_expanded(at, FALSE);
        g_object_unref(at);
    }
}

static void select_key(struct grid *g, guint64 key)
{
    for (guint i = 0; i < row_count(g); i++)
        if (row_at(g, i)->key == key) {
            gtk_single_selection_set_selected(g->selection, i);
            return;
        }
    gtk_single_selection_set_selected(g->selection, GTK_INVALID_LIST_POSITION);
}

static void replace(struct grid *g, GPtrArray *rows)
{
    guint at = gtk_single_selection_get_selected(g->selection);
    bool had = at != GTK_INVALID_LIST_POSITION;
    guint64 key = had ? row_at(g, at)->key : 0;
    GHashTable *shut = shut_rows(g);
    g->scroll = gtk_adjustment_get_value(
        gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(g->scrolled)));
    g_list_store_splice(g->store, 0, g_list_model_get_n_items(G_LIST_MODEL(g->store)), rows->pdata,
                        rows->len);
    shut_again(g, shut);
    g_hash_table_unref(shut);
    if (had)
        select_key(g, key);
    else
        gtk_single_selection_set_selected(g->selection, GTK_INVALID_LIST_POSITION);
    if (!g->restoring && g->scroll > 0)
        g->restoring = g_idle_add(on_restore, g);
}

static void resort(struct grid *g)
{
    GtkSorter *sorter = gtk_column_view_get_sorter(GTK_COLUMN_VIEW(g->widget));
    gtk_sorter_changed(sorter, GTK_SORTER_CHANGE_DIFFERENT);
}

/* ---- columns ---- */

static void on_setup(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct grid *g = data;
    uint32_t column = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(factory), "column"));
    bool first = g_object_get_data(G_OBJECT(factory), "first") != NULL;
    cell_setup(item, &g->table->columns[g->shown[column].column], first);
}

/* Which of the table's columns stands in the cell of a row. */
static uint32_t column_in(const struct grid *g, uint32_t row, uint32_t shown)
{
    const struct shown *s = &g->shown[shown];
    const struct table_cell *cells = table_cells(g->table, row);
    bool other = cells[s->column].is == CELL_NULL && s->other < g->table->column_count;
    return other ? s->other : s->column;
}

static char *words(struct grid *g, uint32_t row, uint32_t shown)
{
    struct table_names names = {the_book(g->view), g->view->link.sites};
    uint32_t column = column_in(g, row, shown);
    const struct table_cell *cell = &table_cells(g->table, row)[column];
    if (cell->is == CELL_NULL && g->table->rows[row].depth)
        return g_strdup("");
    return table_say(&names, &g->table->columns[column], cell);
}

static void fill_cell(DrawerRow *row, GtkListItem *item)
{
    struct grid *g = g_object_get_data(G_OBJECT(item), "grid");
    uint32_t column = GPOINTER_TO_UINT(g_object_get_data(G_OBJECT(item), "column"));
    char *text = words(g, row->row, column);
    cell_fill(item, text);
    free(text);
}

static void on_bind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    DrawerRow *row = gtk_tree_list_row_get_item(gtk_list_item_get_item(item));
    g_object_set_data_full(G_OBJECT(item), "row", row, g_object_unref);
    g_object_set_data(G_OBJECT(item), "grid", data);
    g_object_set_data(G_OBJECT(item), "column", g_object_get_data(G_OBJECT(factory), "column"));
    cell_bind(item);
    fill_cell(row, item);
    g_signal_connect(row, "changed", G_CALLBACK(fill_cell), item);
}

/* The list may have lost the row by now. */
static void on_unbind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
    (void)factory;
    (void)data;
    g_signal_handlers_disconnect_by_data(g_object_get_data(G_OBJECT(item), "row"), item);
    g_object_set_data(G_OBJECT(item), "row", NULL);
}

struct sorting {
    struct grid *grid;
    uint32_t column;
};

static int compare(gconstpointer a, gconstpointer b, gpointer data)
{
    const struct sorting *s = data;
    struct grid *g = s->grid;
    uint32_t x = ((const DrawerRow *)a)->row, y = ((const DrawerRow *)b)->row;
    if (!g->table || x >= g->table->row_count || y >= g->table->row_count)
        return 0;
    const struct table_cell *p = &table_cells(g->table, x)[column_in(g, x, s->column)],
                            *q = &table_cells(g->table, y)[column_in(g, y, s->column)];
    if (cell_is_number(p) || cell_is_number(q) || p->is == CELL_NULL || q->is == CELL_NULL)
        return cell_compare(p, q);
    char *one = words(g, x, s->column), *other = words(g, y, s->column);
    int order = g_utf8_collate(one, other);
    free(one);
    free(other);
    return order;
}

/* title: ours. */
static void add_column(struct grid *g, uint32_t shown, char *title)
{
    const struct table_column *c = &g->table->columns[g->shown[shown].column];
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    struct sorting *sorting = g_new(struct sorting, 1);
    *sorting = (struct sorting){g, shown};
    g_object_set_data(G_OBJECT(factory), "column", GUINT_TO_POINTER(shown));
    g_object_set_data(G_OBJECT(factory), "first", shown ? NULL : g);
    g_signal_connect(factory, "setup", G_CALLBACK(on_setup), g);
    g_signal_connect(factory, "bind", G_CALLBACK(on_bind), g);
    g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), g);
    GtkColumnViewColumn *made = gtk_column_view_column_new(title, factory);
    GtkSorter *sorter = GTK_SORTER(gtk_custom_sorter_new(compare, sorting, g_free));
    gtk_column_view_column_set_sorter(made, sorter);
    gtk_column_view_column_set_resizable(made, TRUE);
    gtk_column_view_column_set_expand(made, c->kind == TABLE_STEP || c->kind == TABLE_PLACE ||
                                                c->kind == TABLE_LINE);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(g->widget), made);
    g_object_unref(sorter);
    g_object_unref(made);
    free(title);
}

static void add_wanted(struct grid *g, const struct grid_column *wanted)
{
    uint32_t column = table_find(g->table, wanted->name), none = g->table->column_count;
    uint32_t other = wanted->other ? table_find(g->table, wanted->other) : none;
    if (column == none)
        return;
    g->shown[g->shown_count++] = (struct shown){column, other};
    add_column(g, g->shown_count - 1,
               wanted->title ? g_strdup(wanted->title)
                             : table_say_title(&g->table->columns[column]));
}

static void add_all(struct grid *g)
{
    char *unknown = NULL;
    uint32_t count, *chosen = table_choose(g->table, NULL, &count, &unknown);
    for (uint32_t i = 0; i < count; i++) {
        g->shown[g->shown_count++] = (struct shown){chosen[i], g->table->column_count};
        add_column(g, i, table_say_title(&g->table->columns[chosen[i]]));
    }
    free(chosen);
}

/* Of the first table; those of the next are the same. */
static void make_columns(struct grid *g)
{
    if (g->column_count == g->table->column_count || !g->table->column_count)
        return;
    GListModel *columns = gtk_column_view_get_columns(GTK_COLUMN_VIEW(g->widget));
    while (g_list_model_get_n_items(columns)) {
        GtkColumnViewColumn *column = g_list_model_get_item(columns, 0);
        gtk_column_view_remove_column(GTK_COLUMN_VIEW(g->widget), column);
        g_object_unref(column);
    }
    g->shown_count = 0;
    if (!g->wanted)
        add_all(g);
    for (const struct grid_column *c = g->wanted; c && c->name; c++)
        add_wanted(g, c);
    g->column_count = g->table->column_count;
}

/* ---- showing ---- */

void grid_show(struct grid *g, const struct shown_table *table)
{
    GPtrArray *rows = make_rows(table);
    GListStore *fresh = g_list_store_new(DRAWER_TYPE_ROW);
    g_list_store_splice(fresh, 0, 0, rows->pdata, rows->len);
    g->quiet = true;
    guint number = 0;
    if (g->table && same_rows(G_LIST_MODEL(g->store), G_LIST_MODEL(fresh))) {
        g->table = table;
        renumber(G_LIST_MODEL(g->store), &number);
        resort(g);
    } else {
        g->table = table;
        make_columns(g);
        replace(g, rows);
    }
    g->quiet = false;
    g_object_unref(fresh);
    g_ptr_array_unref(rows);
    if (g->wants_focus && row_count(g))
        grid_focus(g);
}

void grid_again(struct grid *g)
{
    guint number = 0;
    if (g->table)
        renumber(G_LIST_MODEL(g->store), &number);
}

void grid_select(struct grid *g, int row)
{
    for (guint i = 0; i < row_count(g); i++)
        if ((int)row_at(g, i)->row == row)
            gtk_single_selection_set_selected(g->selection, i);
}

/* The list within it, behind the heads of its columns. */
static GtkWidget *list_of(struct grid *g)
{
    GtkWidget *child = gtk_widget_get_first_child(g->widget), *list = NULL;
    for (; child; child = gtk_widget_get_next_sibling(child))
        if (g_str_has_suffix(G_OBJECT_TYPE_NAME(child), "ListView"))
            list = child;
    return list;
}

void grid_focus(struct grid *g)
{
    GtkWidget *list = list_of(g);
    g->wants_focus = row_count(g) == 0;
    if (list && !gtk_widget_grab_focus(list))
        gtk_widget_child_focus(list, GTK_DIR_TAB_FORWARD);
}

/* ---- what is done to it ---- */

static void on_selected(GtkSingleSelection *selection, GParamSpec *spec, gpointer data)
{
    struct grid *g = data;
    (void)selection;
    (void)spec;
    if (!g->quiet)
        g->ears->selected(g->user, grid_selected(g));
}

static void on_activate(GtkColumnView *widget, guint position, gpointer data)
{
    struct grid *g = data;
    (void)widget;
    g->ears->activated(g->user, (int)row_at(g, position)->row);
}

/* It has been selected by then. */
static void on_click(GtkGestureClick *gesture, int presses, double x, double y, gpointer data)
{
    struct grid *g = data;
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(gesture));
    (void)presses;
    (void)x;
    (void)y;
    if (state & GDK_CONTROL_MASK)
        g->ears->pointed(g->user, grid_selected(g));
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct grid *g = data;
    (void)widget;
    g->quiet = true;
    if (g->restoring)
        g_source_remove(g->restoring);
    g->restoring = 0;
}

static void build_models(struct grid *g)
{
    g->store = g_list_store_new(DRAWER_TYPE_ROW);
    g->tree = gtk_tree_list_model_new(g_object_ref(G_LIST_MODEL(g->store)), FALSE, TRUE, rows_below,
                                      g, NULL);
    GtkSorter *by_column = g_object_ref(gtk_column_view_get_sorter(GTK_COLUMN_VIEW(g->widget)));
    GtkSorter *sorter = GTK_SORTER(gtk_tree_list_row_sorter_new(by_column));
    g->sorted = gtk_sort_list_model_new(G_LIST_MODEL(g->tree), sorter);
    g->selection = gtk_single_selection_new(G_LIST_MODEL(g->sorted));
    gtk_single_selection_set_autoselect(g->selection, FALSE);
    gtk_single_selection_set_can_unselect(g->selection, TRUE);
    gtk_column_view_set_model(GTK_COLUMN_VIEW(g->widget), GTK_SELECTION_MODEL(g->selection));
    g_signal_connect(g->selection, "notify::selected", G_CALLBACK(on_selected), g);
}

struct grid *grid_new(struct view *view, const char *name, const struct grid_column *columns,
                      const struct grid_ears *ears, void *user)
{
    struct grid *g = g_new0(struct grid, 1);
    *g = (struct grid){.view = view, .wanted = columns, .ears = ears, .user = user};
    g->scrolled = gtk_scrolled_window_new();
    g->widget = gtk_column_view_new(NULL);
    gtk_column_view_set_show_column_separators(GTK_COLUMN_VIEW(g->widget), TRUE);
    gtk_widget_add_css_class(g->widget, "data-table");
    gtk_accessible_update_property(GTK_ACCESSIBLE(g->widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                   -1);
    build_models(g);
    g_signal_connect(g->widget, "activate", G_CALLBACK(on_activate), g);
    GtkGesture *click = gtk_gesture_click_new();
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(click), GTK_PHASE_CAPTURE);
    g_signal_connect(click, "released", G_CALLBACK(on_click), g);
    gtk_widget_add_controller(g->widget, GTK_EVENT_CONTROLLER(click));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(g->scrolled), g->widget);
    gtk_widget_set_vexpand(g->scrolled, TRUE);
    g_signal_connect(g->scrolled, "destroy", G_CALLBACK(on_destroy), g);
    g_object_set_data_full(G_OBJECT(g->scrolled), "grid", g, g_free);
    return g;
}

GtkWidget *grid_widget(struct grid *g) { return g->scrolled; }

void grid_print(struct grid *g, FILE *f)
{
    for (uint32_t i = 0; i < g->shown_count; i++)
        fprintf(f, "\t%s", g->table->columns[g->shown[i].column].name);
    fprintf(f, "\n");
    for (guint at = 0; at < row_count(g); at++) {
        DrawerRow *row = row_at(g, at);
        bool is = gtk_single_selection_get_selected(g->selection) == at;
        fprintf(f, "%s%u", is ? "*" : "", g->table->rows[row->row].depth);
        for (uint32_t i = 0; i < g->shown_count; i++) {
            char *text = words(g, row->row, i);
            fprintf(f, "\t%s", text);
            free(text);
        }
        fprintf(f, "\n");
    }
}
