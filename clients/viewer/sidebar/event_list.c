#include "clients/viewer/sidebar/event_list.h"

#include "clients/metadata/event_text.h"
#include "clients/symbols/symbolizer.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/search.h"
#include "clients/viewer/state/server_link.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- sorting by columns: allowed only while all rows are loaded ---- */

#define SORTING_COLUMNS 8u

struct list_sorting {
    GtkColumnView *list; /* borrowed */
    GtkWidget *hint; /* visible while sorting is impossible; borrowed */
    GtkColumnViewColumn *columns[SORTING_COLUMNS]; /* of the list, in the order of its sorters */
    GtkSorter *sorters[SORTING_COLUMNS];
    unsigned count;
    bool able;
};

/* Adds a column, in which `compare` compares rows. */
static void list_sorting_add(struct list_sorting *sorting, GtkColumnViewColumn *column,
                             GCompareDataFunc compare, gpointer data)
{
    g_return_if_fail(sorting->count < SORTING_COLUMNS);
    sorting->columns[sorting->count] = column;
    sorting->sorters[sorting->count++] = GTK_SORTER(gtk_custom_sorter_new(compare, data, NULL));
}

/* false: also removes the sorting */
static void list_sorting_allow(struct list_sorting *sorting, bool able)
{
    gtk_widget_set_visible(sorting->hint, !able);
    if (able == sorting->able)
        return;
    sorting->able = able;
    if (!able)
        gtk_column_view_sort_by_column(sorting->list, NULL, GTK_SORT_ASCENDING);
    for (unsigned i = 0; i < sorting->count; i++)
        gtk_column_view_column_set_sorter(sorting->columns[i], able ? sorting->sorters[i] : NULL);
}

static bool list_sorting_is_on(const struct list_sorting *sorting)
{
    GtkSorter *all = gtk_column_view_get_sorter(sorting->list);
    return sorting->able && gtk_sorter_get_order(all) != GTK_SORTER_ORDER_NONE;
}

/* call when the contents of rows have changed */
static void list_sorting_refresh(struct list_sorting *sorting)
{
    for (unsigned i = 0; i < sorting->count; i++)
        gtk_sorter_changed(sorting->sorters[i], GTK_SORTER_CHANGE_DIFFERENT);
}

static void list_sorting_free(struct list_sorting *sorting)
{
    for (unsigned i = 0; i < sorting->count; i++)
        g_clear_object(&sorting->sorters[i]);
    sorting->count = 0;
}

#define PAGE 256u
#define PAGES_KEPT 64u
#define SORTED_MOST 4096u /* events: sorting requests all of them */

/* ---- rows: positions, with texts that are fetched when they are displayed ---- */

/* One row: a position. */
#define POET_TYPE_ROW (poet_row_get_type())
G_DECLARE_FINAL_TYPE(PoetRow, poet_row, POET, ROW, GObject)
struct _PoetRow {
    GObject parent;
    uint64_t position;
};

enum event_row_cell { ROW_TIME, ROW_LINE, ROW_WHAT, ROW_ABOUT, ROW_SITE, ROW_CELLS };

struct event_row_entry {
    char *cells[ROW_CELLS];
    char *text; /* the full text */
    struct event_id at;
    int64_t time_ns;
};

#define POET_TYPE_ROWS (poet_rows_get_type())
G_DECLARE_FINAL_TYPE(PoetRows, poet_rows, POET, ROWS, GObject)
struct _PoetRows {
    GObject parent;
    struct view *view;
    struct event_list *events;
    GHashTable *entries, *asked; /* by position; by page */
    GHashTable *listing; /* the position from which a list was requested, by request id */
    guint count;
    bool hits; /* search hits, instead of all events */
};

G_DEFINE_FINAL_TYPE(PoetRow, poet_row, G_TYPE_OBJECT)
static void poet_row_class_init(PoetRowClass *class) { (void)class; }
static void poet_row_init(PoetRow *row) { (void)row; }

static GType event_rows_item_type(GListModel *model)
{
    (void)model;
    return POET_TYPE_ROW;
}

static guint event_rows_count(GListModel *model) { return POET_ROWS(model)->count; }

/* Returns the position of a row in the order of the model. */
static uint64_t event_rows_position(const PoetRows *rows, guint index)
{
    return rows->hits ? rows->view->search.positions[index] : index;
}

static gpointer event_rows_item_at(GListModel *model, guint index)
{
    PoetRows *rows = POET_ROWS(model);
    if (index >= rows->count || (rows->hits && index >= rows->view->search.hit_count))
        return NULL;
    PoetRow *row = g_object_new(POET_TYPE_ROW, NULL);
    row->position = event_rows_position(rows, index);
    return row;
}

static void event_rows_init_model(GListModelInterface *interface)
{
    interface->get_item_type = event_rows_item_type;
    interface->get_n_items = event_rows_count;
    interface->get_item = event_rows_item_at;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(PoetRows, poet_rows, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, event_rows_init_model))

static void event_rows_free_entry(gpointer p)
{
    struct event_row_entry *e = p;
    for (size_t i = 0; i < ROW_CELLS; i++)
        g_free(e->cells[i]);
    g_free(e->text);
    g_free(e);
}

static void poet_rows_finalize(GObject *object)
{
    PoetRows *rows = POET_ROWS(object);
    g_hash_table_destroy(rows->entries);
    g_hash_table_destroy(rows->asked);
    g_hash_table_destroy(rows->listing);
    G_OBJECT_CLASS(poet_rows_parent_class)->finalize(object);
}

static void poet_rows_class_init(PoetRowsClass *class)
{
    G_OBJECT_CLASS(class)->finalize = poet_rows_finalize;
}

static void poet_rows_init(PoetRows *rows)
{
    rows->entries =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, event_rows_free_entry);
    rows->asked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    rows->listing = g_hash_table_new_full(NULL, NULL, NULL, g_free);
}

/* Returns whether all of its rows are loaded. */
static bool event_rows_are_complete(const PoetRows *rows)
{
    for (guint i = 0; i < rows->count; i++) {
        uint64_t position = event_rows_position(rows, i);
        if (!g_hash_table_contains(rows->entries, &position))
            return false;
    }
    return true;
}

/* Compares two rows by a column, and by position if they are equal. */
static int event_rows_compare(const PoetRows *rows, const PoetRow *a, const PoetRow *b,
                              enum event_row_cell cell)
{
    const struct event_row_entry *x = g_hash_table_lookup(rows->entries, &a->position),
                                 *y = g_hash_table_lookup(rows->entries, &b->position);
    int order = 0;
    if (x && y && cell == ROW_TIME)
        order = x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
    else if (x && y)
        order = g_strcmp0(x->cells[cell], y->cells[cell]);
    return order ? order : a->position < b->position ? -1 : a->position > b->position;
}

/* ---- the list ---- */

struct event_list {
    struct view *view;
    GListModel *model; /* PoetRows */
    GtkWidget *list;
    GPtrArray *labels; /* of the visible rows */
    struct list_sorting sorting;
    bool moving; /* a selection by the program, not by the user */
    guint refresh, later;
};

/* ---- cells ---- */

/* The cell of a label: the position of its event in the log, and the column. */
struct label_position {
    uint64_t position;
    enum event_row_cell cell;
};

static void show_entry(PoetRows *rows, GtkWidget *label)
{
    const struct label_position *p = g_object_get_data(G_OBJECT(label), "place");
    const struct event_row_entry *e = p ? g_hash_table_lookup(rows->entries, &p->position) : NULL;
    const char *text = e ? e->cells[p->cell] : NULL;
    gtk_label_set_text(GTK_LABEL(label), text ? text : "");
    gtk_widget_set_tooltip_text(label, e ? e->text : NULL);
}

static void event_list_store_entry(PoetRows *rows, uint64_t position, struct event_row_entry *e)
{
    g_hash_table_insert(rows->entries, g_memdup2(&position, sizeof position), e);
}

static void event_list_receive_page(void *user, const struct response_chunk *answer);

static void event_list_fetch_page(PoetRows *rows, uint64_t position)
{
    uint64_t page = rows->hits ? position : position / PAGE;
    if (g_hash_table_contains(rows->entries, &position) ||
        g_hash_table_contains(rows->asked, &page))
        return;
    if (g_hash_table_size(rows->entries) > PAGE * PAGES_KEPT) {
        g_hash_table_remove_all(rows->entries);
        g_hash_table_remove_all(rows->asked);
    }
    g_hash_table_add(rows->asked, g_memdup2(&page, sizeof page));
    uint64_t from = rows->hits ? position : page * PAGE;
    struct encoder body = {0};
    encode_u64(&body, from);
    encode_u32(&body, rows->hits ? 1 : PAGE);
    uint32_t id = server_link_request(&rows->view->server_link, REQUEST_LOG_RANGE, &body,
                                      event_list_receive_page, rows->events);
    g_hash_table_insert(rows->listing, GUINT_TO_POINTER(id), g_memdup2(&from, sizeof from));
}

static void on_setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    GtkWidget *label = gtk_label_new("");
    (void)factory;
    bool time = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(factory), "cell")) == ROW_TIME;
    (void)data;
    gtk_label_set_xalign(GTK_LABEL(label), time ? 1 : 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, "numeric"); /* digits of one width */
    gtk_list_item_set_child(item, label);
}

static void on_bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct event_list *events = data;
    PoetRow *row = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    struct label_position place = {
        row->position,
        (enum event_row_cell)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(factory), "cell"))};
    g_object_set_data_full(G_OBJECT(label), "place", g_memdup2(&place, sizeof place), g_free);
    g_ptr_array_add(events->labels, label);
    show_entry(POET_ROWS(events->model), label);
    event_list_fetch_page(POET_ROWS(events->model), row->position);
}

static void on_unbind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct event_list *events = data;
    (void)factory;
    g_ptr_array_remove_fast(events->labels, gtk_list_item_get_child(item));
}

/* ---- sorting and contents ---- */

/* Requests all events, which sorting needs. */
static void fetch_all(PoetRows *rows)
{
    for (guint i = 0; i < rows->count && rows->count <= SORTED_MOST; i += rows->hits ? 1 : PAGE)
        event_list_fetch_page(rows, event_rows_position(rows, i));
}

static void on_sorter(GtkSorter *sorter, GtkSorterChange change, gpointer data)
{
    struct event_list *events = data;
    (void)sorter;
    (void)change;
    if (list_sorting_is_on(&events->sorting))
        fetch_all(POET_ROWS(events->model));
}

/* data: the column, to which the cell and the rows are attached. */
static int event_list_compare_rows(gconstpointer a, gconstpointer b, gpointer data)
{
    enum event_row_cell cell =
        (enum event_row_cell)GPOINTER_TO_INT(g_object_get_data(data, "cell"));
    return event_rows_compare(g_object_get_data(data, "rows"), a, b, cell);
}

static gboolean on_refresh(gpointer data)
{
    struct event_list *events = data;
    events->refresh = 0;
    if (list_sorting_is_on(&events->sorting) && event_rows_are_complete(POET_ROWS(events->model)))
        list_sorting_refresh(&events->sorting);
    for (guint i = 0; i < events->labels->len; i++)
        show_entry(POET_ROWS(events->model), g_ptr_array_index(events->labels, i));
    return G_SOURCE_REMOVE;
}

/* Returns the type of an event with its annotations: "text “step 14”". */
static char *event_list_type_text(const struct trace_metadata *book, const struct event_info *e)
{
    GString *s = g_string_new(metadata_type_name(book, e->type));
    g_string_append(s, state_text(e));
    for (uint32_t i = 0; i < e->text_count; i++)
        g_string_append_printf(s, " “%s”", e->texts[i]);
    return g_string_free(s, FALSE);
}

static struct event_row_entry *entry_of(struct view *view, const struct event_info *e)
{
    const struct trace_metadata *book = view_metadata(view);
    struct event_row_entry *entry = g_new0(struct event_row_entry, 1);
    char *text = event_text(book, e);
    entry->cells[ROW_TIME] = g_strdup_printf("%.3f", (double)e->time_ns / 1e6);
    entry->cells[ROW_LINE] = g_strdup(metadata_label(book, e->at.line));
    entry->cells[ROW_WHAT] = event_list_type_text(book, e);
    entry->cells[ROW_ABOUT] = g_strdup(e->about ? metadata_label(book, e->about) : "");
    entry->cells[ROW_SITE] =
        g_strdup(e->site ? symbolize(view->server_link.sites, e->process, e->site).place : "");
    entry->text = g_strdup(text);
    entry->at = e->at;
    entry->time_ns = e->time_ns;
    free(text);
    return entry;
}

static void add_event(struct event_list *events, struct decoder *in)
{
    PoetRows *rows = POET_ROWS(events->model);
    struct event_info event;
    decode_event_info(in, &event);
    if (decoder_finish(in))
        event_list_store_entry(rows, event.position, entry_of(events->view, &event));
    event_info_free(&event);
    if (!events->refresh)
        events->refresh = g_idle_add(on_refresh, events);
}

/* Fills in what a response left out of its range: events on lines that are never drawn. */
static void fill_list(PoetRows *rows, uint64_t from, uint64_t end)
{
    for (uint64_t p = from; p < end && p - from < 4 * PAGE && !rows->hits; p++)
        if (!g_hash_table_contains(rows->entries, &p)) {
            struct event_row_entry *e = g_new0(struct event_row_entry, 1);
            e->cells[ROW_WHAT] = g_strdup("·");
            event_list_store_entry(rows, p, e);
        }
}

static void event_list_receive_page(void *user, const struct response_chunk *answer)
{
    struct event_list *events = user;
    PoetRows *rows = POET_ROWS(events->model);
    const uint64_t *from = g_hash_table_lookup(rows->listing, GUINT_TO_POINTER(answer->id));
    if (answer->part == RESPONSE_EVENT)
        add_event(events, answer->in);
    if (answer->part == RESPONSE_LOG_POSITION && from)
        fill_list(rows, *from, decode_u64(answer->in));
    if (answer->last)
        g_hash_table_remove(rows->listing, GUINT_TO_POINTER(answer->id));
}

void event_list_update_count(struct event_list *events)
{
    PoetRows *rows = POET_ROWS(events->model);
    const struct viewer_search *finder = &events->view->search;
    bool hits = search_is_active(finder);
    guint count =
        hits ? finder->hit_count : (guint)MIN(events->view->server_link.count, G_MAXUINT / 2);
    if (hits == rows->hits && count == rows->count && (!hits || !count))
        return;
    if (!gtk_widget_get_mapped(events->list) && !hits && rows->count && !rows->hits)
        return; /* it is updated when it is shown */
    guint before = rows->count;
    bool grows = !hits && !rows->hits && count >= before;
    rows->hits = hits;
    rows->count = count;
    list_sorting_allow(&events->sorting, count <= SORTED_MOST);
    if (hits)
        g_hash_table_remove_all(rows->asked);
    g_list_model_items_changed(G_LIST_MODEL(rows), grows ? before : 0, grows ? 0 : before,
                               grows ? count - before : count);
    if (list_sorting_is_on(&events->sorting))
        fetch_all(rows);
}

void event_list_clear(struct event_list *events)
{
    PoetRows *rows = POET_ROWS(events->model);
    guint before = rows->count;
    g_hash_table_remove_all(rows->entries);
    g_hash_table_remove_all(rows->asked);
    g_hash_table_remove_all(rows->listing);
    rows->count = 0;
    rows->hits = false;
    g_list_model_items_changed(G_LIST_MODEL(rows), 0, before, 0);
    event_list_update_count(events);
}

static GtkSingleSelection *selection_of(const struct event_list *events)
{
    return GTK_SINGLE_SELECTION(gtk_column_view_get_model(GTK_COLUMN_VIEW(events->list)));
}

/* Returns the position of the event at an index; NO_POSITION: none. */
static uint64_t position_at(const struct event_list *events, guint index)
{
    PoetRow *row = g_list_model_get_item(G_LIST_MODEL(selection_of(events)), index);
    uint64_t position = row ? row->position : NO_POSITION;
    g_clear_object(&row);
    return position;
}

/* Returns the index of an event, sorted or not; the number of rows if it is not listed. */
static guint index_of(const struct event_list *events, uint64_t position)
{
    PoetRows *rows = POET_ROWS(events->model);
    bool moved = rows->hits || list_sorting_is_on(&events->sorting);
    guint index = moved ? 0 : (guint)MIN(position, rows->count);
    while (moved && index < rows->count && position_at(events, index) != position)
        index++;
    return index;
}

void event_list_show(struct event_list *events, uint64_t position)
{
    PoetRows *rows = POET_ROWS(events->model);
    guint index = index_of(events, position);
    if (index >= rows->count || position >= G_MAXUINT / 2)
        return;
    events->moving = true;
    gtk_widget_activate_action(gtk_widget_get_last_child(events->list), "list.scroll-to-item", "u",
                               index);
    gtk_single_selection_set_selected(selection_of(events), index);
    events->moving = false;
}

void event_list_select(struct event_list *events)
{
    const struct scene_mark *m =
        scene_cache_find_mark(&events->view->scene_cache, events->view->viewport.place.selected);
    if (m && m->event->position != NO_POSITION && gtk_widget_get_mapped(events->list))
        event_list_show(events, m->event->position);
}

static void on_activate(GtkColumnView *list, guint index, gpointer data)
{
    struct event_list *events = data;
    PoetRows *rows = POET_ROWS(events->model);
    uint64_t position = position_at(events, index);
    const struct event_row_entry *e = g_hash_table_lookup(rows->entries, &position);
    (void)list;
    if (e && e->at.line)
        go_to_event(events->view, e->at, position);
}

/* Returns whether the user selects by keys or clicks; then the diagram follows. */
static bool is_focused(const struct event_list *events)
{
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(events->view->window));
    return at && gtk_widget_is_ancestor(at, events->list);
}

static void on_selected(GtkSingleSelection *selection, GParamSpec *spec, gpointer data)
{
    struct event_list *events = data;
    guint index = gtk_single_selection_get_selected(selection);
    (void)spec;
    if (!events->moving && index != GTK_INVALID_LIST_POSITION && is_focused(events))
        on_activate(NULL, index, events);
}

static gboolean on_later(gpointer data)
{
    struct event_list *events = data;
    events->later = 0;
    event_list_update_count(events);
    event_list_select(events);
    return G_SOURCE_REMOVE;
}

/* Selects when idle, after the list has its size. */
static void on_map(GtkWidget *widget, gpointer data)
{
    struct event_list *events = data;
    (void)widget;
    if (!events->later)
        events->later = g_idle_add(on_later, events);
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct event_list *events = data;
    (void)widget;
    if (events->later)
        g_source_remove(events->later);
    if (events->refresh)
        g_source_remove(events->refresh);
    events->later = events->refresh = 0;
    list_sorting_free(&events->sorting);
}

static void add_columns(struct event_list *events)
{
    static const struct {
        const char *title;
        int width;
        bool expand;
    } columns[ROW_CELLS] = {{"Time (ms)", 84, false},
                            {"Line", 96, false},
                            {"Event", 100, true},
                            {"Object", 96, false},
                            {"Call site", 110, false}};
    for (int i = 0; i < ROW_CELLS; i++) {
        GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
        g_object_set_data(G_OBJECT(factory), "cell", GINT_TO_POINTER(i));
        g_signal_connect(factory, "setup", G_CALLBACK(on_setup), events);
        g_signal_connect(factory, "bind", G_CALLBACK(on_bind), events);
        g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), events);
        GtkColumnViewColumn *column = gtk_column_view_column_new(columns[i].title, factory);
        gtk_column_view_column_set_resizable(column, TRUE);
        gtk_column_view_column_set_fixed_width(column, columns[i].width);
        gtk_column_view_column_set_expand(column, columns[i].expand);
        gtk_column_view_append_column(GTK_COLUMN_VIEW(events->list), column);
        g_object_set_data(G_OBJECT(column), "cell", GINT_TO_POINTER(i));
        g_object_set_data(G_OBJECT(column), "rows", events->model);
        list_sorting_add(&events->sorting, column, event_list_compare_rows, column);
        g_object_unref(column);
    }
}

struct event_list *event_list_new(struct view *view, GtkWidget **widget)
{
    struct event_list *events = g_new0(struct event_list, 1);
    PoetRows *rows = g_object_new(POET_TYPE_ROWS, NULL);
    GtkWidget *scrolled = gtk_scrolled_window_new(),
              *hint = gtk_label_new("Too many events to sort; narrow them with Find (Ctrl+F).");
    *widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    events->view = rows->view = view;
    rows->events = events;
    events->model = G_LIST_MODEL(rows);
    events->labels = g_ptr_array_new();
    events->list = gtk_column_view_new(NULL);
    focus_tab_past_rows(events->list);
    events->sorting = (struct list_sorting){.list = GTK_COLUMN_VIEW(events->list), .hint = hint};
    GtkSorter *sorter = gtk_column_view_get_sorter(GTK_COLUMN_VIEW(events->list));
    GtkSingleSelection *selection = gtk_single_selection_new(
        G_LIST_MODEL(gtk_sort_list_model_new(g_object_ref(events->model), g_object_ref(sorter))));
    gtk_single_selection_set_autoselect(selection, FALSE);
    gtk_single_selection_set_can_unselect(selection, TRUE);
    g_signal_connect(selection, "notify::selected", G_CALLBACK(on_selected), events);
    gtk_column_view_set_model(GTK_COLUMN_VIEW(events->list), GTK_SELECTION_MODEL(selection));
    g_object_unref(selection);
    add_columns(events);
    g_signal_connect(sorter, "changed", G_CALLBACK(on_sorter), events);
    gtk_widget_add_css_class(events->list, "data-table");
    gtk_column_view_set_single_click_activate(GTK_COLUMN_VIEW(events->list), TRUE);
    g_signal_connect(events->list, "activate", G_CALLBACK(on_activate), events);
    g_signal_connect_after(events->list, "map", G_CALLBACK(on_map), events);
    g_signal_connect(events->list, "destroy", G_CALLBACK(on_destroy), events);
    accessible_name_set(events->list, "Events in trace order");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), events->list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_widget_add_css_class(hint, "dim-label");
    gtk_widget_set_visible(hint, FALSE);
    gtk_box_append(GTK_BOX(*widget), scrolled);
    gtk_box_append(GTK_BOX(*widget), hint);
    return events;
}
