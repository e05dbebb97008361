/* The tab Profile: functions with their calls and times, as a list, a tree or a graph; events that
 * were recorded in the selected function are marked. */
#include "clients/connection/call_groups.h"
#include "clients/connection/inlined_calls.h"
#include "clients/connection/table_tree.h"
#include "clients/viewer/analysis/calls_tab.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter ---- */

/* A table is filtered by the part of the run between two selected events, and by a text in the
 * names of functions. */

/* The events between which a table was requested; line 0: none. */
struct call_filter_range {
    struct event_id selected, second;
};

/* Sets the range from one event to the other in the order of their times, as far as known; without
 * two selected events in the diagram, the whole run. */
static void call_filter_set_range(struct call_filter_range *range, struct view *view,
                                  struct table_request *r)
{
    const struct view_state *place = &view->viewport.place;
    const struct event_info *one = scene_cache_find_event(&view->scene_cache, place->selected),
                            *other = place->second.line
                                         ? scene_cache_find_event(&view->scene_cache, place->second)
                                         : NULL;
    *range = (struct call_filter_range){place->selected, place->second};
    if (!one || !other || one->time_ns == other->time_ns)
        return;
    bool turned = other->time_ns < one->time_ns;
    r->from = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? other->at : one->at};
    r->to = (struct table_end){.is = TABLE_AT_EVENT, .event = turned ? one->at : other->at};
    table_model_set_option(r, "coarse", "1");
}

static bool call_filter_range_has_changed(const struct call_filter_range *range,
                                          const struct view *view)
{
    const struct view_state *place = &view->viewport.place;
    return !event_id_equal(range->second, place->second) ||
           (place->second.line && !event_id_equal(range->selected, place->selected));
}

static bool call_filter_name_contains(const struct table_names *names, const struct result_table *t,
                                      uint32_t row, uint32_t scope, const char *text)
{
    char *name =
             result_table_cell_text(names, &t->columns[scope], &result_table_cells(t, row)[scope]),
         *folded = g_utf8_casefold(name, -1);
    bool contains = strstr(folded, text) != NULL;
    g_free(folded);
    free(name);
    return contains;
}

/* Returns, by row, whether its name or that of a row above or below it contains the text, ignoring
 * case; NULL: no filter. Free with g_free(). */
static bool *call_filter_rows(const struct result_table *t, const struct table_names *names,
                              const char *text)
{
    uint32_t scope = result_table_find_column(t, "function"), above[UINT8_MAX + 1] = {0};
    if (!*text || scope == t->column_count)
        return NULL;
    bool *kept = g_new0(bool, t->row_count + 1);
    char *folded = g_utf8_casefold(text, -1);
    int inside = -1; /* depth of the matching row that this one is below; -1: none */
    for (uint32_t i = 0; i < t->row_count; i++) {
        int depth = t->rows[i].depth;
        bool matches = call_filter_name_contains(names, t, i, scope, folded);
        above[depth] = i;
        if (inside < 0 || depth <= inside)
            inside = matches ? depth : -1;
        kept[i] = inside >= 0;
        for (int d = 0; matches && d < depth; d++)
            kept[above[d]] = true;
    }
    g_free(folded);
    return kept;
}

/* ---- the tab ---- */

/* Attached to the window. */
struct calls_tab {
    struct tab_instance *paged; /* the tab */
    enum calls_shape {
        FLAT,
        TREE,
        CALLEES,
        GRAPH,
        BOXES,
        INVERTED,
        BUTTERFLY,
        WALL,
        BY_FILE,
        BY_CATEGORY
    } shape,
        asked; /* shape of the last request */
    bool by_thread;
    char *text; /* filter: only names that contain it; "": all */
    struct icicle_widget *boxed;
    struct callgraph_view *graphed;
    struct call_marks marks; /* of the selected row */
    struct event_id event; /* its row is selected once there is a table; line 0: none */
    struct table_place function; /* its row is selected then; address 0: none */
    guint select_idle; /* when idle, the highlighted function is selected */
    bool quiet; /* the selection follows that of an event, and is undone with it */
    /* a view state was restored: its highlighted function is selected */
    bool restored;
    struct call_filter_range range; /* of the last request */
    struct table_place chosen; /* the function that was selected last; address 0: none */
    struct table_place middle; /* the function of the butterfly; address 0: the first */
};

static const struct tab_form calls_forms[] = {
    [FLAT] = {"flat", "Flat", "Flat profile"},
    [TREE] = {"tree", "Tree", "Call tree"},
    [CALLEES] = {"callees", "Callees", "Functions and what each called, with times of calls"},
    [GRAPH] = {"graph", "Graph", "Call graph"},
    [BOXES] = {"icicle", "Icicle", "Icicle graph by callee: call paths from the top down"},
    [INVERTED] =
        {"inverted", "Inverted",
         "Icicle graph by caller: functions, and below each the call paths that led to it"},
    [BUTTERFLY] = {"butterfly", "Butterfly",
                   "The selected function between its callers and its callees; Enter selects one "
                   "of these instead"},
    [WALL] = {"wall", "Wall clock", "Each thread's time on CPUs and in waits"},
    [BY_FILE] = {"file", "Files", "By source file"},
    [BY_CATEGORY] = {"category", "Categories", "By category"}};

static struct calls_tab *calls_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "calls");
}

static bool calls_is_shown(struct view *view) { return tab_is_shown(calls_state(view)->paged); }

/* ---- requests and contents ---- */

static bool is_grouped(enum calls_shape shape) { return shape == BY_FILE || shape == BY_CATEGORY; }

static bool is_icicle(enum calls_shape shape)
{
    return shape == BOXES || shape == INVERTED || shape == WALL;
}

/* Returns whether functions that were inlined get their share of samples. */
static bool is_expanded(enum calls_shape shape)
{
    return shape == FLAT || shape == TREE || shape == BOXES || shape == WALL;
}

static void calls_extend_request(struct view *view, struct table_request *r)
{
    struct calls_tab *c = calls_state(view);
    call_filter_set_range(&c->range, view, r);
    c->asked = c->shape;
    if (c->shape == GRAPH || c->shape == CALLEES || c->shape == BUTTERFLY)
        table_model_set_option(r, "graph", "yes");
    if (c->shape == BUTTERFLY)
        table_model_set_option(r, "callers", "yes");
    if (c->shape == INVERTED)
        table_model_set_option(r, "inverted", "yes");
    if (c->shape == WALL)
        table_model_set_option(r, "wall", "yes");
    if (is_expanded(c->shape))
        table_model_set_option(r, "points", "yes");
    if (c->shape == TREE || is_icicle(c->shape))
        r->flags |= TABLE_TREE;
    if ((c->by_thread || c->shape == WALL) && c->shape != GRAPH && c->shape != BUTTERFLY &&
        !is_grouped(c->shape)) {
        g_free(r->by);
        r->by = g_strdup("thread");
    }
}

/* Groups functions by files or categories, shows one of them with its callers and callees, or adds
 * those that were inlined. */
static void calls_rewrite_table(struct view *view, struct result_table *t)
{
    struct calls_tab *c = calls_state(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    struct call_groups_options how = {.by = calls_forms[c->asked].name, .tree = true};
    struct result_table groups = {0};
    if (c->asked == BUTTERFLY && !t->problem)
        table_tree_butterfly(t, c->middle);
    if (is_expanded(c->asked))
        inlined_calls_expand(
            t,
            &(struct inlined_calls_options){.tree = c->asked != FLAT,
                                            .by_thread = c->by_thread || c->asked == WALL},
            &names);
    if (!is_grouped(c->asked) || t->problem || !t->column_count)
        return;
    if (call_groups_make(&groups, &how, &names, t)) {
        result_table_free(t);
        *t = groups;
    } else {
        result_table_free(&groups);
    }
}

static GtkWidget *calls_replacement_widget(struct view *view)
{
    struct calls_tab *c = calls_state(view);
    return is_icicle(c->shape) ? icicle_view_widget(c->boxed)
           : c->shape == GRAPH ? callgraph_view_widget(c->graphed)
                               : NULL;
}

static bool *calls_filter_rows(struct view *view, const struct result_table *t)
{
    struct table_names names = {view_metadata(view), view->server_link.sites};
    return call_filter_rows(t, &names, calls_state(view)->text);
}

/* ---- selection ---- */

/* Notes the function of the row, to which the butterfly goes. */
static void calls_choose_function(struct calls_tab *c, const struct result_table *t, int row)
{
    uint32_t scope = result_table_find_column(t, "function");
    const struct table_cell *cell =
        row >= 0 && scope < t->column_count ? &result_table_cells(t, (uint32_t)row)[scope] : NULL;
    if (cell && cell->is == CELL_PLACE)
        c->chosen = cell->place;
}

static void calls_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    struct calls_tab *c = calls_state(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    if (row >= (int)t->row_count)
        row = -1; /* of an earlier table */
    calls_choose_function(c, t, row);
    call_marks_set_row(&c->marks, &names, t, row);
    call_marks_mark(view, &c->marks);
    char *lit = call_highlight_of_row(&names, t, row);
    if (!c->restored)
        function_highlight_set(view, lit, !c->quiet);
    g_free(lit);
}

/* Handles a selection in a graph, which has the rows of the whole table. */
static void box_selected(struct view *view, int row)
{
    highlights_clear(&view->highlights);
    calls_on_row_selected(view, tab_table(calls_state(view)->paged), row);
    notifier_emit(&view->notifier, NOTIFY_HITS);
}

static bool is_drawn(const struct calls_tab *c) { return is_icicle(c->shape) || c->shape == GRAPH; }

static void select_row(struct view *view, int row)
{
    struct calls_tab *c = calls_state(view);
    if (is_icicle(c->shape))
        icicle_view_select(c->boxed, row);
    else if (c->shape == GRAPH)
        callgraph_view_select(c->graphed, row);
    else if (row >= 0)
        tab_select(calls_state(view)->paged, row);
}

/* Selects a row because of another selection: it is not a step of its own in the history. */
static void select_quietly(struct view *view, const struct result_table *t, int row)
{
    struct calls_tab *c = calls_state(view);
    c->quiet = true;
    if (is_drawn(c)) {
        select_row(view, row);
        highlights_clear(&view->highlights);
        calls_on_row_selected(view, t, row);
        notifier_emit(&view->notifier, NOTIFY_HITS);
    } else {
        tab_select(c->paged, row);
    }
    c->quiet = false;
}

/* Selects the row that was to be selected once there is a table. */
static void select_wanted(struct view *view, const struct result_table *t)
{
    struct calls_tab *c = calls_state(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    const struct event_info *e =
        c->event.line ? scene_cache_find_event(&view->scene_cache, c->event) : NULL;
    int row = -1;
    if (c->function.address)
        row = call_marks_find_function_row(t, &names, c->function);
    else if (e && !c->by_thread && c->shape != WALL)
        row = call_marks_find_row(t, &names, e, c->shape == TREE || is_icicle(c->shape));
    c->function = (struct table_place){0};
    c->event = (struct event_id){0};
    if (row >= 0)
        select_quietly(view, t, row);
}

/* Selects the row of the highlighted function, or none. */
static void calls_select_highlighted(struct view *view)
{
    struct calls_tab *c = calls_state(view);
    const struct result_table *t = tab_table(c->paged);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    const char *wanted = view->viewport.place.lit;
    int row = -1;
    for (uint32_t i = 0; wanted && row < 0 && i < t->row_count; i++) {
        char *lit = call_highlight_of_row(&names, t, (int)i);
        row = g_strcmp0(lit, wanted) == 0 ? (int)i : -1;
        g_free(lit);
    }
    c->event = (struct event_id){0};
    if (row >= 0 || c->marks.count)
        select_quietly(view, t, row);
}

static void select_now(struct view *view)
{
    if (calls_is_shown(view) && tab_has_rows(calls_state(view)->paged))
        select_wanted(view, tab_table(calls_state(view)->paged));
}

static gboolean on_later(gpointer data)
{
    calls_state(data)->select_idle = 0;
    select_now(data);
    return G_SOURCE_REMOVE;
}

/* Selects when idle, after the tab shows the table. */
static void calls_schedule_select(struct view *view, struct calls_tab *c)
{
    if (!c->select_idle)
        c->select_idle = g_idle_add_full(G_PRIORITY_LOW, on_later, view, NULL);
}

static void calls_on_table(struct view *view, const struct result_table *t)
{
    struct calls_tab *c = calls_state(view);
    if (is_icicle(c->shape) || !t->column_count)
        icicle_view_show(c->boxed, t);
    if (c->shape == GRAPH || !t->column_count)
        callgraph_view_show(c->graphed, t);
    if (c->event.line || c->function.address)
        calls_schedule_select(view, c);
}

static void calls_on_notification(struct view *view, enum notification what)
{
    struct calls_tab *c = calls_state(view);
    if (what == NOTIFY_TAB_SHOWN && c->asked != c->shape)
        tab_request(c->paged); /* it was changed while the tab was hidden */
    if (what == NOTIFY_DIAGRAM && c->marks.count) {
        call_marks_mark(view, &c->marks);
        notifier_emit(&view->notifier, NOTIFY_HITS);
    }
    if (what == NOTIFY_SELECTION && call_filter_range_has_changed(&c->range, view))
        tab_request(calls_state(view)->paged);
    c->restored |= what == NOTIFY_RESTORED;
    if (what == NOTIFY_SELECTION && c->restored) {
        if (tab_has_rows(c->paged))
            calls_select_highlighted(view);
        c->restored = false;
        return;
    }
    if (what != NOTIFY_SELECTION || !view->viewport.place.selected.line)
        return;
    c->event = view->viewport.place.selected;
    select_now(view);
}

static void calls_clear_marks(struct view *view)
{
    struct calls_tab *c = calls_state(view);
    call_marks_free(&c->marks);
    c->event = (struct event_id){0};
    c->chosen = c->middle = (struct table_place){0};
}

/* ---- controls ---- */

static void on_shape(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct calls_tab *c = calls_state(data);
    size_t form = tab_controls_choose(action, wanted, calls_forms, G_N_ELEMENTS(calls_forms));
    if (form < G_N_ELEMENTS(calls_forms))
        c->shape = (enum calls_shape)form;
    c->middle = c->chosen;
    if (calls_is_shown(data))
        tab_request(c->paged);
}

static void on_by_thread(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    struct calls_tab *c = calls_state(data);
    (void)wanted;
    c->by_thread = !c->by_thread;
    g_simple_action_set_state(action, g_variant_new_boolean(c->by_thread));
    if (calls_is_shown(data))
        tab_request(c->paged);
}

static void calls_set_filter(struct view *view, const char *text)
{
    struct calls_tab *c = calls_state(view);
    g_free(c->text);
    c->text = g_strdup(text);
    icicle_view_highlight(c->boxed, text);
    if (calls_is_shown(view))
        tab_filter(calls_state(view)->paged);
}

/* Filters at once, unlike typing, which has a delay. */
static void on_filter(GSimpleAction *action, GVariant *text, gpointer data)
{
    GtkWidget *entry = g_object_get_data(G_OBJECT(action), "entry");
    gtk_editable_set_text(GTK_EDITABLE(entry), g_variant_get_string(text, NULL));
    calls_set_filter(data, g_variant_get_string(text, NULL));
}

/* "PROCESS:ADDRESS" in hexadecimal. */
static void on_function(GSimpleAction *action, GVariant *function, gpointer data)
{
    struct calls_tab *c = calls_state(data);
    char *rest = NULL;
    (void)action;
    uint32_t process = (uint32_t)strtoul(g_variant_get_string(function, NULL), &rest, 16);
    g_action_group_activate_action(G_ACTION_GROUP(((struct view *)data)->window), "show-calls",
                                   NULL);
    c->event = (struct event_id){0};
    c->function = (struct table_place){process, *rest == ':' ? strtoull(rest + 1, NULL, 16) : 0};
    select_now(data);
}

static void on_searched(GtkSearchEntry *entry, gpointer data)
{
    calls_set_filter(data, gtk_editable_get_text(GTK_EDITABLE(entry)));
}

static void add_actions(struct view *view, GtkWidget *entry)
{
    tab_controls_add_action(view, "calls-shape", G_VARIANT_TYPE_STRING,
                            g_variant_new_string(calls_forms[FLAT].name), G_CALLBACK(on_shape));
    tab_controls_add_action(view, "calls-by-thread", NULL, g_variant_new_boolean(FALSE),
                            G_CALLBACK(on_by_thread));
    tab_controls_add_action(view, "calls-function", G_VARIANT_TYPE_STRING, NULL,
                            G_CALLBACK(on_function));
    GSimpleAction *text = tab_controls_add_action(view, "calls-filter", G_VARIANT_TYPE_STRING, NULL,
                                                  G_CALLBACK(on_filter));
    g_object_set_data(G_OBJECT(text), "entry", entry);
}

static GtkWidget *controls_new(struct view *view, GtkWidget *entry)
{
    GtkWidget *row, *scrolled = tab_controls_row(&row),
                    *threads = gtk_check_button_new_with_label("By thread");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(threads), "win.calls-by-thread");
    g_object_set(entry, "placeholder-text", "Only functions with…", "width-chars", 8,
                 "max-width-chars", 28, NULL);
    gtk_widget_set_hexpand(entry, TRUE);
    gtk_widget_set_halign(entry, GTK_ALIGN_START);
    accessible_name_set(entry, "Filter functions by name");
    g_signal_connect(entry, "search-changed", G_CALLBACK(on_searched), view);
    gtk_box_append(GTK_BOX(row),
                   tab_controls_forms("calls-shape", calls_forms, G_N_ELEMENTS(calls_forms)));
    gtk_box_append(GTK_BOX(row), threads);
    gtk_box_append(GTK_BOX(row), entry);
    return scrolled;
}

static void free_calls(gpointer data)
{
    struct calls_tab *c = data;
    if (c->select_idle)
        g_source_remove(c->select_idle);
    call_marks_free(&c->marks);
    g_object_unref(icicle_view_widget(c->boxed));
    g_object_unref(callgraph_view_widget(c->graphed));
    g_free(c->text);
    g_free(c);
}

static const struct icicle_callbacks calls_icicle_callbacks = {box_selected};

static GtkWidget *calls_create_controls(struct view *view)
{
    struct calls_tab *c = g_new0(struct calls_tab, 1);
    GtkWidget *entry = gtk_search_entry_new();
    c->text = g_strdup("");
    c->boxed = icicle_view_new(view, &calls_icicle_callbacks);
    c->graphed = callgraph_view_new(view, box_selected);
    g_object_set_data_full(G_OBJECT(view->window), "calls", c, free_calls);
    add_actions(view, entry);
    return controls_new(view, entry);
}

static void calls_on_tab_created(struct view *view, struct tab_instance *paged)
{
    calls_state(view)->paged = paged;
}

/* ---- graphs ---- */

static bool select_box(struct view *view, int row)
{
    struct calls_tab *c = calls_state(view);
    if (!is_drawn(c))
        return false;
    select_row(view, row);
    box_selected(view, row);
    return true;
}

static bool enter_box(struct view *view)
{
    struct calls_tab *c = calls_state(view);
    if (c->shape == BUTTERFLY && c->chosen.address) {
        c->middle = c->chosen;
        tab_request(c->paged);
    }
    if (is_icicle(c->shape))
        icicle_view_enter(c->boxed);
    return is_drawn(c) || c->shape == BUTTERFLY;
}

static bool print_boxes(struct view *view, FILE *f)
{
    struct calls_tab *c = calls_state(view);
    if (is_icicle(c->shape))
        icicle_view_print(c->boxed, f);
    else if (c->shape == GRAPH)
        callgraph_view_print(c->graphed, f);
    return is_drawn(c);
}

static bool write_boxes(struct view *view, const struct document_options *o, const char *file,
                        const char **why)
{
    struct calls_tab *c = calls_state(view);
    if (!is_drawn(c))
        return false;
    if (is_icicle(c->shape))
        icicle_view_write(c->boxed, o, file, why);
    else
        callgraph_view_write(c->graphed, o, file, why);
    return true;
}

const struct tab page_calls = {
    .name = "calls",
    .title = "Profile",
    .preset = "calls",
    .row_kind = "",
    .empty_text = "No profile: compile with poetcc -profile.",
    .tooltip = "Function profile: calls, self and total time",
    .header = calls_create_controls,
    .on_row_selected = calls_on_row_selected,
    .replacement = calls_replacement_widget,
    .on_notification = calls_on_notification,
    .clear = calls_clear_marks,
    .on_created = calls_on_tab_created,
    .request = calls_extend_request,
    .rewrite = calls_rewrite_table,
    .on_table = calls_on_table,
    .filter_rows = calls_filter_rows,
    .select = select_box,
    .enter = enter_box,
    .print = print_boxes,
    .write = write_boxes,
};
