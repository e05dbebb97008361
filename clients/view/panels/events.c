#include "clients/view/panels/events.h"

#include "clients/book/say.h"
#include "clients/site/site.h"
#include "clients/view/panels/entries.h"
#include "clients/view/panels/sorting.h"
#include "clients/view/parts/finder.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/stage.h"
#include "clients/view/picture/jump.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/ask.h"
#include "wire/event.h"
#include "wire/message.h"
#include "wire/shown.h"

#include <stdlib.h>

#define PAGE 256u
#define PAGES_KEPT 64u
#define SORTED_MOST 4096u /* all of them are asked for, then */

struct events {
    struct view *view;
    GListModel *model; /* PoetRows */
    GtkWidget *list;
    GPtrArray *labels; /* that stand in the rows that are seen */
    struct sorting sorting;
    bool moving; /* we choose ourselves */
    guint refresh, later;
};

/* ---- the view of it ---- */

/* What a label stands for: a position, and a column of the table. */
struct place_of_label {
    uint64_t position;
    enum cell cell;
};

static void show_entry(PoetRows *rows, GtkWidget *label)
{
    const struct place_of_label *p = g_object_get_data(G_OBJECT(label), "place");
    const struct entry *e = p ? g_hash_table_lookup(rows->entries, &p->position) : NULL;
    const char *text = e ? e->cells[p->cell] : NULL;
    gtk_label_set_text(GTK_LABEL(label), text ? text : "");
    gtk_widget_set_tooltip_text(label, e ? e->text : NULL);
}

static void keep(PoetRows *rows, uint64_t position, struct entry *e)
{
    g_hash_table_insert(rows->entries, g_memdup2(&position, sizeof position), e);
}

static void take_list(void *user, const struct answer *answer);

static void fetch(PoetRows *rows, uint64_t position)
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
    struct out body = {0};
    put_u64(&body, from);
    put_u32(&body, rows->hits ? 1 : PAGE);
    uint32_t id = link_ask(&rows->view->link, ASK_LIST, &body, take_list, rows->events);
    g_hash_table_insert(rows->listing, GUINT_TO_POINTER(id), g_memdup2(&from, sizeof from));
}

static void on_setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    GtkWidget *label = gtk_label_new("");
    (void)factory;
    bool time = GPOINTER_TO_INT(g_object_get_data(G_OBJECT(factory), "cell")) == CELL_TIME;
    (void)data;
    gtk_label_set_xalign(GTK_LABEL(label), time ? 1 : 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, "numeric"); /* digits of one width */
    gtk_list_item_set_child(item, label);
}

static void on_bind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct events *events = data;
    PoetRow *row = gtk_list_item_get_item(item);
    GtkWidget *label = gtk_list_item_get_child(item);
    struct place_of_label place = {
        row->position, (enum cell)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(factory), "cell"))};
    g_object_set_data_full(G_OBJECT(label), "place", g_memdup2(&place, sizeof place), g_free);
    g_ptr_array_add(events->labels, label);
    show_entry(POET_ROWS(events->model), label);
    fetch(POET_ROWS(events->model), row->position);
}

static void on_unbind(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
    struct events *events = data;
    (void)factory;
    g_ptr_array_remove_fast(events->labels, gtk_list_item_get_child(item));
}

/* ---- sorted ---- */

/* What is sorted has to be here, all of it. */
static void fetch_all(PoetRows *rows)
{
    for (guint i = 0; i < rows->count && rows->count <= SORTED_MOST; i += rows->hits ? 1 : PAGE)
        fetch(rows, entries_position(rows, i));
}

static void on_sorter(GtkSorter *sorter, GtkSorterChange change, gpointer data)
{
    struct events *events = data;
    (void)sorter;
    (void)change;
    if (sorting_is_on(&events->sorting))
        fetch_all(POET_ROWS(events->model));
}

/* data: the column, which knows the rest. */
static int compare(gconstpointer a, gconstpointer b, gpointer data)
{
    enum cell cell = (enum cell)GPOINTER_TO_INT(g_object_get_data(data, "cell"));
    return entries_compare(g_object_get_data(data, "rows"), a, b, cell);
}

static gboolean on_refresh(gpointer data)
{
    struct events *events = data;
    events->refresh = 0;
    if (sorting_is_on(&events->sorting) && entries_complete(POET_ROWS(events->model)))
        sorting_again(&events->sorting);
    for (guint i = 0; i < events->labels->len; i++)
        show_entry(POET_ROWS(events->model), g_ptr_array_index(events->labels, i));
    return G_SOURCE_REMOVE;
}

/* What happened, with what was said there: "text “step 14”". */
static char *what_of(const struct book *book, const struct shown_event *e)
{
    GString *s = g_string_new(book_type(book, e->type));
    g_string_append(s, say_state(e));
    for (uint32_t i = 0; i < e->text_count; i++)
        g_string_append_printf(s, " “%s”", e->texts[i]);
    return g_string_free(s, FALSE);
}

static struct entry *entry_of(struct view *view, const struct shown_event *e)
{
    const struct book *book = the_book(view);
    struct entry *entry = g_new0(struct entry, 1);
    char *said = say_event(book, e);
    entry->cells[CELL_TIME] = g_strdup_printf("%.3f", (double)e->time_ns / 1e6);
    entry->cells[CELL_LINE] = g_strdup(book_label(book, e->at.line));
    entry->cells[CELL_WHAT] = what_of(book, e);
    entry->cells[CELL_ABOUT] = g_strdup(e->about ? book_label(book, e->about) : "");
    entry->cells[CELL_SITE] =
        g_strdup(e->site ? sites_call(view->link.sites, e->process, e->site).place : "");
    entry->text = g_strdup(said);
    entry->at = e->at;
    entry->time_ns = e->time_ns;
    free(said);
    return entry;
}

static void add_event(struct events *events, struct in *in)
{
    PoetRows *rows = POET_ROWS(events->model);
    struct shown_event event;
    get_event(in, &event);
    if (in_done(in))
        keep(rows, event.position, entry_of(events->view, &event));
    shown_event_free(&event);
    if (!events->refresh)
        events->refresh = g_idle_add(on_refresh, events);
}

/* A list is here, up to a position.  What it left out is of lines that are never drawn. */
static void fill_list(PoetRows *rows, uint64_t from, uint64_t end)
{
    for (uint64_t p = from; p < end && p - from < 4 * PAGE && !rows->hits; p++)
        if (!g_hash_table_contains(rows->entries, &p)) {
            struct entry *e = g_new0(struct entry, 1);
            e->cells[CELL_WHAT] = g_strdup("·");
            keep(rows, p, e);
        }
}

static void take_list(void *user, const struct answer *answer)
{
    struct events *events = user;
    PoetRows *rows = POET_ROWS(events->model);
    const uint64_t *from = g_hash_table_lookup(rows->listing, GUINT_TO_POINTER(answer->id));
    if (answer->part == PART_EVENT)
        add_event(events, answer->in);
    if (answer->part == PART_LISTED && from)
        fill_list(rows, *from, get_u64(answer->in));
    if (answer->last)
        g_hash_table_remove(rows->listing, GUINT_TO_POINTER(answer->id));
}

void events_count(struct events *events)
{
    PoetRows *rows = POET_ROWS(events->model);
    const struct finder *finder = &events->view->finder;
    bool hits = finder_wants(finder);
    guint count = hits ? finder->hit_count : (guint)MIN(events->view->link.count, G_MAXUINT / 2);
    if (hits == rows->hits && count == rows->count && (!hits || !count))
        return;
    if (!gtk_widget_get_mapped(events->list) && !hits && rows->count && !rows->hits)
        return; /* it is told when it is looked at */
    guint before = rows->count;
    bool grows = !hits && !rows->hits && count >= before;
    rows->hits = hits;
    rows->count = count;
    sorting_allow(&events->sorting, count <= SORTED_MOST);
    if (hits)
        g_hash_table_remove_all(rows->asked);
    g_list_model_items_changed(G_LIST_MODEL(rows), grows ? before : 0, grows ? 0 : before,
                               grows ? count - before : count);
    if (sorting_is_on(&events->sorting))
        fetch_all(rows);
}

void events_clear(struct events *events)
{
    PoetRows *rows = POET_ROWS(events->model);
    guint before = rows->count;
    g_hash_table_remove_all(rows->entries);
    g_hash_table_remove_all(rows->asked);
    g_hash_table_remove_all(rows->listing);
    rows->count = 0;
    rows->hits = false;
    g_list_model_items_changed(G_LIST_MODEL(rows), 0, before, 0);
    events_count(events);
}

static GtkSingleSelection *selection_of(const struct events *events)
{
    return GTK_SINGLE_SELECTION(gtk_column_view_get_model(GTK_COLUMN_VIEW(events->list)));
}

/* The position of what stands there; NO_POSITION: nothing does. */
static uint64_t position_at(const struct events *events, guint index)
{
    PoetRow *row = g_list_model_get_item(G_LIST_MODEL(selection_of(events)), index);
    uint64_t position = row ? row->position : NO_POSITION;
    g_clear_object(&row);
    return position;
}

/* Where that event stands in the table, sorted or not; the count, if it is not there. */
static guint index_of(const struct events *events, uint64_t position)
{
    PoetRows *rows = POET_ROWS(events->model);
    bool moved = rows->hits || sorting_is_on(&events->sorting);
    guint index = moved ? 0 : (guint)MIN(position, rows->count);
    while (moved && index < rows->count && position_at(events, index) != position)
        index++;
    return index;
}

void events_show(struct events *events, uint64_t position)
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

void events_select(struct events *events)
{
    const struct scene_mark *m =
        stage_mark(&events->view->stage, events->view->camera.place.selected);
    if (m && m->event->position != NO_POSITION && gtk_widget_get_mapped(events->list))
        events_show(events, m->event->position);
}

static void on_activate(GtkColumnView *list, guint index, gpointer data)
{
    struct events *events = data;
    PoetRows *rows = POET_ROWS(events->model);
    uint64_t position = position_at(events, index);
    const struct entry *e = g_hash_table_lookup(rows->entries, &position);
    (void)list;
    if (e && e->at.line)
        jump_to_event(events->view, e->at, position);
}

/* By an arrow key, or a click: then the picture follows. */
static bool is_focused(const struct events *events)
{
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(events->view->window));
    return at && gtk_widget_is_ancestor(at, events->list);
}

static void on_selected(GtkSingleSelection *selection, GParamSpec *spec, gpointer data)
{
    struct events *events = data;
    guint index = gtk_single_selection_get_selected(selection);
    (void)spec;
    if (!events->moving && index != GTK_INVALID_LIST_POSITION && is_focused(events))
        on_activate(NULL, index, events);
}

static gboolean on_later(gpointer data)
{
    struct events *events = data;
    events->later = 0;
    events_count(events);
    events_select(events);
    return G_SOURCE_REMOVE;
}

/* It has its size then. */
static void on_map(GtkWidget *widget, gpointer data)
{
    struct events *events = data;
    (void)widget;
    if (!events->later)
        events->later = g_idle_add(on_later, events);
}

static void on_destroy(GtkWidget *widget, gpointer data)
{
    struct events *events = data;
    (void)widget;
    if (events->later)
        g_source_remove(events->later);
    if (events->refresh)
        g_source_remove(events->refresh);
    events->later = events->refresh = 0;
    sorting_free(&events->sorting);
}

static void add_columns(struct events *events)
{
    static const struct {
        const char *title;
        int width;
        bool expand;
    } columns[CELLS] = {{"Time (ms)", 84, false},
                        {"Line", 96, false},
                        {"What", 100, true},
                        {"About", 96, false},
                        {"Site", 110, false}};
    for (int i = 0; i < CELLS; i++) {
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
        sorting_add(&events->sorting, column, compare, column);
        g_object_unref(column);
    }
}

struct events *events_new(struct view *view, GtkWidget **widget)
{
    struct events *events = g_new0(struct events, 1);
    PoetRows *rows = g_object_new(POET_TYPE_ROWS, NULL);
    GtkWidget *scrolled = gtk_scrolled_window_new(),
              *hint = gtk_label_new("Too many to be sorted: find some of them (Ctrl+F).");
    *widget = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    events->view = rows->view = view;
    rows->events = events;
    events->model = G_LIST_MODEL(rows);
    events->labels = g_ptr_array_new();
    events->list = gtk_column_view_new(NULL);
    events->sorting = (struct sorting){.list = GTK_COLUMN_VIEW(events->list), .hint = hint};
    GtkSingleSelection *selection =
        gtk_single_selection_new(sorting_model(&events->sorting, g_object_ref(events->model)));
    gtk_single_selection_set_autoselect(selection, FALSE);
    gtk_single_selection_set_can_unselect(selection, TRUE);
    g_signal_connect(selection, "notify::selected", G_CALLBACK(on_selected), events);
    gtk_column_view_set_model(GTK_COLUMN_VIEW(events->list), GTK_SELECTION_MODEL(selection));
    g_object_unref(selection);
    add_columns(events);
    g_signal_connect(gtk_column_view_get_sorter(GTK_COLUMN_VIEW(events->list)), "changed",
                     G_CALLBACK(on_sorter), events);
    gtk_widget_add_css_class(events->list, "data-table");
    gtk_column_view_set_single_click_activate(GTK_COLUMN_VIEW(events->list), TRUE);
    g_signal_connect(events->list, "activate", G_CALLBACK(on_activate), events);
    g_signal_connect_after(events->list, "map", G_CALLBACK(on_map), events);
    g_signal_connect(events->list, "destroy", G_CALLBACK(on_destroy), events);
    gtk_accessible_update_property(GTK_ACCESSIBLE(events->list), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Events in the order of the recording", -1);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), events->list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_widget_add_css_class(hint, "dim-label");
    gtk_widget_set_visible(hint, FALSE);
    gtk_box_append(GTK_BOX(*widget), scrolled);
    gtk_box_append(GTK_BOX(*widget), hint);
    return events;
}
