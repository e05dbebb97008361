#include "clients/viewer/analysis/grid.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/state/accessible_name.h"

#include <stdlib.h>

#define OPEN_MOST 10000u /* more rows begin collapsed: expanding all would take seconds */

struct grid {
    struct view *view;
    const struct grid_callbacks *ears;
    void *user;
    struct grid_columns columns;
    GtkWidget *scrolled, *widget;
    GListStore *store;
    GtkTreeListModel *tree;
    GtkSortListModel *sorted;
    GtkSingleSelection *selection;
    bool quiet; /* it is being filled: selection changes are not the user's */
    bool wants_focus;
    double scroll; /* position to be restored */
    guint restoring;
    int sought, tries; /* row to scroll to, once that is possible */
    guint seeking;
};

#define SEEK_TRIES 250 /* every 20 ms */

/* ---- rows ---- */

static GListModel *rows_below(gpointer item, gpointer user)
{
    GridRow *row = GRID_ROW(item);
    (void)user;
    return row->below ? G_LIST_MODEL(g_object_ref(row->below)) : NULL;
}

static GridRow *row_at(struct grid *g, guint position)
{
    GtkTreeListRow *at = g_list_model_get_item(G_LIST_MODEL(g->selection), position);
    GridRow *row = at ? gtk_tree_list_row_get_item(at) : NULL;
    g_clear_object(&at);
    if (row)
        g_object_unref(row); /* the store holds a reference */
    return row;
}

static guint row_count(struct grid *g)
{
    return g_list_model_get_n_items(G_LIST_MODEL(g->selection));
}

int grid_selected(const struct grid *g)
{
    GtkTreeListRow *at = gtk_single_selection_get_selected_item(g->selection);
    GridRow *row = at ? gtk_tree_list_row_get_item(at) : NULL;
    int number = row ? (int)row->row : -1;
    g_clear_object(&row);
    return number;
}

/* ---- refilling ---- */

static gboolean on_restore(gpointer data)
{
    struct grid *g = data;
    g->restoring = 0;
    GtkAdjustment *down = gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(g->scrolled));
    gtk_adjustment_set_value(down, g->scroll);
    return G_SOURCE_REMOVE;
}

/* Returns the keys of collapsed rows. */
static GHashTable *grid_collapsed_rows(struct grid *g)
{
    GHashTable *shut = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < row_count(g); i++) {
        GtkTreeListRow *at = g_list_model_get_item(G_LIST_MODEL(g->selection), i);
        GridRow *row = row_at(g, i);
        if (row->below && !gtk_tree_list_row_get_expanded(at))
            g_hash_table_add(shut, g_memdup2(&row->key, sizeof row->key));
        g_object_unref(at);
    }
    return shut;
}

static void grid_collapse_rows(struct grid *g, GHashTable *shut)
{
    for (guint i = 0; g_hash_table_size(shut) && i < row_count(g); i++) {
        GridRow *row = row_at(g, i);
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

static void grid_replace_rows(struct grid *g, GPtrArray *rows)
{
    guint at = gtk_single_selection_get_selected(g->selection);
    bool had = at != GTK_INVALID_LIST_POSITION;
    guint64 key = had ? row_at(g, at)->key : 0;
    GHashTable *shut = grid_collapsed_rows(g);
    g->scroll = gtk_adjustment_get_value(
        gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(g->scrolled)));
    g_list_store_splice(g->store, 0, g_list_model_get_n_items(G_LIST_MODEL(g->store)), rows->pdata,
                        rows->len);
    grid_collapse_rows(g, shut);
    g_hash_table_unref(shut);
    if (had)
        select_key(g, key);
    else
        gtk_single_selection_set_selected(g->selection, GTK_INVALID_LIST_POSITION);
    if (!g->restoring && g->scroll > 0)
        g->restoring = g_idle_add(on_restore, g);
}

/* ---- contents ---- */

static bool is_deep(const struct result_table *table)
{
    for (uint32_t i = 0; i < table->row_count; i++)
        if (table->rows[i].depth)
            return true;
    return false;
}

void grid_show(struct grid *g, const struct result_table *table)
{
    GPtrArray *rows = grid_row_make_tree(table);
    GListStore *fresh = g_list_store_new(GRID_TYPE_ROW);
    g_list_store_splice(fresh, 0, 0, rows->pdata, rows->len);
    g->quiet = true;
    g->columns.deep = is_deep(table);
    guint number = 0;
    if (g->columns.table && grid_row_same_trees(G_LIST_MODEL(g->store), G_LIST_MODEL(fresh))) {
        g->columns.table = table;
        grid_row_renumber(G_LIST_MODEL(g->store), &number);
        grid_columns_resort(&g->columns);
    } else {
        g->columns.table = table;
        grid_columns_make(&g->columns);
        gtk_tree_list_model_set_autoexpand(g->tree, table->row_count <= OPEN_MOST);
        grid_replace_rows(g, rows);
    }
    g->quiet = false;
    g_object_unref(fresh);
    g_ptr_array_unref(rows);
    if (g->wants_focus && row_count(g))
        grid_focus(g);
}

void grid_refresh(struct grid *g)
{
    guint number = 0;
    if (g->columns.table)
        grid_row_renumber(G_LIST_MODEL(g->store), &number);
}

void grid_select(struct grid *g, int row)
{
    if (row < 0)
        gtk_single_selection_set_selected(g->selection, GTK_INVALID_LIST_POSITION);
    for (guint i = 0; row >= 0 && i < row_count(g); i++)
        if ((int)row_at(g, i)->row == row)
            gtk_single_selection_set_selected(g->selection, i);
}

/* Returns the list in the column view, below its headers. */
static GtkWidget *list_of(struct grid *g)
{
    GtkWidget *child = gtk_widget_get_first_child(g->widget), *list = NULL;
    for (; child; child = gtk_widget_get_next_sibling(child))
        if (g_str_has_suffix(G_OBJECT_TYPE_NAME(child), "ListView"))
            list = child;
    return list;
}

static int position_of(struct grid *g, int row)
{
    for (guint i = 0; i < row_count(g); i++)
        if ((int)row_at(g, i)->row == row)
            return (int)i;
    return -1;
}

/* Scrolls to the row, once the list has a height: it may not have been shown yet. */
static gboolean on_seek(gpointer data)
{
    struct grid *g = data;
    GtkWidget *list = list_of(g);
    int at = position_of(g, g->sought);
    if (gtk_widget_get_height(list) <= 0 && at >= 0 && ++g->tries < SEEK_TRIES)
        return G_SOURCE_CONTINUE;
    if (at >= 0)
        gtk_widget_activate_action(list, "list.scroll-to-item", "u", (guint)at);
    g->seeking = 0;
    return G_SOURCE_REMOVE;
}

void grid_seek(struct grid *g, int row)
{
    g->sought = row;
    g->tries = 0;
    if (!g->seeking)
        g->seeking = g_timeout_add(20, on_seek, g);
}

void grid_reveal(struct grid *g, int row)
{
    int at = position_of(g, row);
    bool before = g->quiet;
    if (at < 0)
        return;
    g->quiet = true;
    gtk_single_selection_set_selected(g->selection, (guint)at);
    g->quiet = before;
    grid_seek(g, row);
}

void grid_focus(struct grid *g)
{
    GtkWidget *list = list_of(g);
    g->wants_focus = row_count(g) == 0;
    if (list && !gtk_widget_grab_focus(list))
        gtk_widget_child_focus(list, GTK_DIR_TAB_FORWARD);
}

/* ---- input ---- */

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

/* The row is selected already. */
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

/* The first arrow key selects the first row: GTK would move on from it, since it has the focus. */
static gboolean on_key(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                       gpointer data)
{
    struct grid *g = data;
    (void)keys;
    (void)code;
    bool plain = !(state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK));
    if ((key != GDK_KEY_Down && key != GDK_KEY_KP_Down) || !plain || !row_count(g) ||
        gtk_single_selection_get_selected(g->selection) != GTK_INVALID_LIST_POSITION)
        return FALSE;
    gtk_single_selection_set_selected(g->selection, 0);
    return TRUE;
}

static void watch_keys(struct grid *g)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), g);
    gtk_widget_add_controller(list_of(g), keys);
    focus_tab_past_rows(list_of(g));
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct grid *g = data;
    (void)widget;
    g->quiet = true;
    g_clear_handle_id(&g->restoring, g_source_remove);
    g_clear_handle_id(&g->seeking, g_source_remove);
}

static void build_models(struct grid *g)
{
    g->store = g_list_store_new(GRID_TYPE_ROW);
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
                      const struct grid_callbacks *ears, void *user)
{
    struct grid *g = g_new0(struct grid, 1);
    *g = (struct grid){.ears = ears, .user = user};
    g->scrolled = gtk_scrolled_window_new();
    g->widget = gtk_column_view_new(NULL);
    g->columns = (struct grid_columns){.view = view, .widget = g->widget, .wanted = columns};
    gtk_column_view_set_show_column_separators(GTK_COLUMN_VIEW(g->widget), TRUE);
    gtk_widget_add_css_class(g->widget, "data-table");
    accessible_name_set(g->widget, name);
    build_models(g);
    g_signal_connect(g->widget, "activate", G_CALLBACK(on_activate), g);
    GtkGesture *click = gtk_gesture_click_new();
    gtk_event_controller_set_propagation_phase(GTK_EVENT_CONTROLLER(click), GTK_PHASE_CAPTURE);
    g_signal_connect(click, "released", G_CALLBACK(on_click), g);
    gtk_widget_add_controller(g->widget, GTK_EVENT_CONTROLLER(click));
    watch_keys(g);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(g->scrolled), g->widget);
    gtk_widget_set_vexpand(g->scrolled, TRUE);
    g_signal_connect(g->scrolled, "destroy", G_CALLBACK(on_destroy), g);
    g_object_set_data_full(G_OBJECT(g->scrolled), "grid", g, g_free);
    return g;
}

void grid_style(struct grid *g, const unsigned *styles) { g->columns.styles = styles; }

GtkWidget *grid_widget(struct grid *g) { return g->scrolled; }

void grid_print(struct grid *g, FILE *f)
{
    /* a table that was emptied has no columns, though those of the one before are still shown */
    for (uint32_t i = 0; g->columns.table->column_count && i < g->columns.shown_count; i++)
        fprintf(f, "\t%s", g->columns.table->columns[g->columns.shown[i].column].name);
    fprintf(f, "\n");
    for (guint at = 0; at < row_count(g); at++) {
        GridRow *row = row_at(g, at);
        bool is = gtk_single_selection_get_selected(g->selection) == at;
        fprintf(f, "%s%u", is ? "*" : "", g->columns.table->rows[row->row].depth);
        for (uint32_t i = 0; i < g->columns.shown_count; i++) {
            char *text = grid_columns_text(&g->columns, row->row, i);
            fprintf(f, "\t%s", text);
            free(text);
        }
        fprintf(f, "\n");
    }
}
