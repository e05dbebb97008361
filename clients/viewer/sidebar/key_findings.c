#include "clients/viewer/sidebar/key_findings.h"

#include "clients/connection/finding_choice.h"
#include "clients/connection/finding_text.h"
#include "clients/connection/race_text.h"
#include "clients/metadata/event_text.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/request_slot.h"

#include <stdlib.h>
#include <string.h>

#define FINDINGS_SHOWN 5u
#define ORDERS_SHOWN 2u
#define SLEEPERS_SHOWN 3u
#define REQUEST_AFTER_MS 100u /* the overview and the critical path come first */
#define PREDICTED_EVENTS_MOST 1000000u /* of a longer run, potential bugs are not requested */

/* The tables that findings are taken from. */
enum key_findings_table {
    FROM_VIOLATIONS,
    FROM_RACES,
    FROM_FINDINGS,
    FROM_PATH,
    FROM_MEMORY,
    FROM_PREDICT,
    FROM_ORDERS, /* orders that no synchronization enforces */
    FROM_TABLES
};

static const struct {
    const char *preset;
    uint32_t top; /* 0: all rows */
} key_findings_tables[FROM_TABLES] = {[FROM_VIOLATIONS] = {"violations", FINDINGS_SHOWN},
                                      [FROM_RACES] = {"races", 0},
                                      [FROM_FINDINGS] = {"findings", 0},
                                      [FROM_PATH] = {"path", 5},
                                      [FROM_MEMORY] = {"memory", 1},
                                      [FROM_PREDICT] = {"predict", FINDINGS_SHOWN},
                                      [FROM_ORDERS] = {"predict", ORDERS_SHOWN}};

struct key_findings {
    struct view *view;
    struct table_model models[FROM_TABLES];
    GtkWidget *box, *list;
    guint timer;
    uint64_t events; /* of the run when they were requested; 0: they were not */
    unsigned asleep; /* number of sleeping threads that the list is about */
    bool shown;
};

static const struct table_cell *key_finding_cell(const struct result_table *t, uint32_t row,
                                                 const char *name)
{
    static const struct table_cell none;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &none;
}

/* Returns a cell of a table as text, "" if it is empty, in new memory. */
static char *key_finding_text(const struct key_findings *f, enum key_findings_table from,
                              uint32_t row, const char *name)
{
    const struct result_table *t = &f->models[from].table;
    struct table_names names = {view_metadata(f->view), f->view->server_link.sites};
    const struct table_cell *cell = key_finding_cell(t, row, name);
    if (cell->is == CELL_NULL || (cell->is == CELL_PLACE && !cell->place.address))
        return g_strdup("");
    return result_table_cell_text(&names, &t->columns[result_table_find_column(t, name)], cell);
}

static int64_t key_finding_number(const struct result_table *t, uint32_t row, const char *name)
{
    const struct table_cell *cell = key_finding_cell(t, row, name);
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

/* Returns the estimated gain of a finding; 0 if it is unknown.  That of a thread on the critical
 * path is the largest what-if gain there. */
static int64_t key_finding_gain_ns(const struct key_findings *f, uint32_t row)
{
    const struct result_table *t = &f->models[FROM_FINDINGS].table,
                              *path = &f->models[FROM_PATH].table;
    int64_t gain_ns = key_finding_number(t, row, "gain_ns");
    const struct table_cell *text = key_finding_cell(t, row, "finding");
    bool on_path = text->is == CELL_TEXT && strstr(text->text, "critical path");
    for (uint32_t i = 0; on_path && i < path->row_count; i++)
        gain_ns = MAX(gain_ns, key_finding_number(path, i, "whatif_gain_ns"));
    return gain_ns;
}

/* ---- rows ---- */

/* Adds a row: a head, in bold, a text, and the thread, the object and the place that a row of a
 * table names. */
static void key_findings_add_row(struct key_findings *f, enum key_findings_table from, uint32_t row,
                                 const char *head, const char *text)
{
    char *thread = key_finding_text(f, from, row, "thread"),
         *object = key_finding_text(f, from, row, "object"),
         *place = key_finding_text(f, from, row, "location");
    char *markup =
        g_markup_printf_escaped("<b>%s</b>  %s\n%s%s%s%s%s", head, text, thread,
                                *object ? ", " : "", object, *place ? " at " : "", place);
    row_list_add(f->list, markup, f->models[from].table.rows[row].event);
    g_free(markup);
    free(thread);
    free(object);
    free(place);
}

static void key_findings_add_finding(struct key_findings *f, uint32_t row)
{
    char gain[60], *finding = key_finding_text(f, FROM_FINDINGS, row, "finding");
    duration_text(gain, sizeof gain, key_finding_gain_ns(f, row));
    key_findings_add_row(f, FROM_FINDINGS, row, gain, finding);
    free(finding);
}

/* Adds the rules that the program broke. */
static void key_findings_add_violations(struct key_findings *f)
{
    const struct result_table *t = &f->models[FROM_VIOLATIONS].table;
    for (uint32_t i = 0; !t->problem && i < t->row_count; i++) {
        char *rule = key_finding_text(f, FROM_VIOLATIONS, i, "rule");
        key_findings_add_row(f, FROM_VIOLATIONS, i, "Rule violation", rule);
        free(rule);
    }
}

/* Adds the first data races, and leads to their later accesses. */
static void key_findings_add_races(struct key_findings *f)
{
    struct result_table *t = &f->models[FROM_RACES].table;
    struct table_names names = {view_metadata(f->view), f->view->server_link.sites};
    uint32_t count = 0;
    if (t->problem)
        return;
    race_text_merge(&names, t);
    for (uint32_t i = 0; i < t->row_count && count < FINDINGS_SHOWN; i++) {
        if (t->rows[i].depth)
            continue;
        char *race = race_text_summary(&names, t, i),
             *markup = g_markup_printf_escaped("<b>Data race</b>  %s", race);
        row_list_add(f->list, markup, t->rows[i].event);
        g_free(markup);
        free(race);
        count++;
    }
}

static void key_findings_add_gains(struct key_findings *f)
{
    const struct result_table *t = &f->models[FROM_FINDINGS].table;
    int64_t *gains_ns = g_new(int64_t, t->row_count + 1);
    uint32_t chosen[FINDINGS_SHOWN], count;
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t gain_ns = t->rows[i].depth ? 0 : key_finding_gain_ns(f, i);
        gains_ns[i] = gain_ns > 0 ? gain_ns : -1;
    }
    count = t->problem ? 0 : finding_choice_make(t, gains_ns, FINDINGS_SHOWN, chosen);
    for (uint32_t i = 0; i < count; i++)
        key_findings_add_finding(f, chosen[i]);
    g_free(gains_ns);
}

/* Adds the memory that was not freed, and where most of it was allocated. */
static void key_findings_add_leak(struct key_findings *f)
{
    const struct result_table *t = &f->models[FROM_MEMORY].table;
    uint32_t blocks = result_table_find_column(t, "unfreed_blocks"),
             bytes = result_table_find_column(t, "unfreed_bytes");
    if (t->problem || !t->total || blocks == t->column_count || bytes == t->column_count ||
        t->total[blocks].is != CELL_NUMBER || t->total[blocks].number <= 0)
        return;
    char *place = t->row_count ? key_finding_text(f, FROM_MEMORY, 0, "function") : g_strdup("");
    char *text = g_markup_printf_escaped(
        "<b>Memory not freed</b>  %lld block%s, %lld byte%s%s%s",
        (long long)t->total[blocks].number, t->total[blocks].number == 1 ? "" : "s",
        (long long)t->total[bytes].number, t->total[bytes].number == 1 ? "" : "s",
        *place ? "\nlargest leak: " : "", place);
    row_list_add_action(f->list, text, (struct event_id){0, 0}, "win.show-memory");
    g_free(text);
    free(place);
}

static void key_findings_add_predictions(struct key_findings *f)
{
    const struct result_table *t = &f->models[FROM_PREDICT].table;
    for (uint32_t i = 0; !t->problem && i < t->row_count; i++) {
        if (t->rows[i].depth)
            continue;
        char *summary = finding_text_summary(t, i);
        char *text = g_markup_printf_escaped("<b>Potential bug</b>  %s", summary);
        row_list_add_action(f->list, text, t->rows[i].event, "win.show-predict");
        g_free(text);
        free(summary);
    }
}

/* Adds a row about an order that no synchronization enforces, or about what a thread did there. */
static void key_findings_add_order(struct key_findings *f, uint32_t row, enum finding_kind kind)
{
    const struct result_table *t = &f->models[FROM_ORDERS].table;
    struct table_names names = {view_metadata(f->view), f->view->server_link.sites};
    bool head = !t->rows[row].depth;
    char *words =
             head ? finding_text_summary(t, row) : finding_text_participant(&names, t, row, kind),
         *text = g_markup_printf_escaped(
             head ? "<b>Order not enforced</b>  %s" : "<small>%s</small>", words);
    row_list_add(f->list, text, t->rows[row].event);
    g_free(text);
    free(words);
}

/* Adds these orders if no potential bug is known: they are often intended. */
static void key_findings_add_orders(struct key_findings *f)
{
    const struct result_table *t = &f->models[FROM_ORDERS].table;
    enum finding_kind kind = FINDING_ORDER_VIOLATION;
    bool bugs = f->models[FROM_PREDICT].table.row_count > 0;
    for (uint32_t i = 0; !t->problem && !bugs && i < t->row_count; i++) {
        if (!t->rows[i].depth)
            kind = finding_text_kind(t, i);
        key_findings_add_order(f, i, kind);
    }
}

/* Sets the option of a request for the orders that no synchronization enforces. */
static void key_findings_choose_orders(struct table_request *request)
{
    char *named = finding_text_kinds(FINDINGS_OF_ORDERS), **kinds = g_strsplit(named, ", ", -1),
         *list = g_strjoinv(",", kinds);
    table_model_set_option(request, "kinds", list);
    g_free(list);
    g_strfreev(kinds);
    free(named);
}

/* Shows the findings once all tables are there. */
static void key_findings_on_table(void *user)
{
    struct key_findings *f = user;
    for (unsigned i = 0; i < FROM_TABLES; i++)
        if (table_model_is_running(&f->models[i]))
            return;
    row_list_clear(f->list);
    key_findings_add_violations(f);
    key_findings_add_races(f);
    f->asleep = blocked_panel_asleep(f->view);
    blocked_panel_add_sleepers(f->view, f->list, SLEEPERS_SHOWN);
    key_findings_add_gains(f);
    key_findings_add_leak(f);
    key_findings_add_predictions(f);
    key_findings_add_orders(f);
    key_findings_show(f, f->shown);
}

static void key_findings_clear_models(struct key_findings *f)
{
    for (unsigned i = 0; i < FROM_TABLES; i++)
        table_model_clear(&f->models[i]);
}

static void key_findings_on_destroy(GtkWidget *widget, gpointer data)
{
    struct key_findings *f = data;
    (void)widget;
    g_clear_handle_id(&f->timer, g_source_remove);
    key_findings_clear_models(f);
    g_free(f);
}

struct key_findings *key_findings_new(struct view *view, GtkWidget **widget)
{
    struct key_findings *f = g_new0(struct key_findings, 1);
    GtkWidget *title = gtk_label_new(NULL);
    f->view = view;
    f->list = row_list_rows(view);
    for (unsigned i = 0; i < FROM_TABLES; i++)
        f->models[i] = (struct table_model){
            .link = &view->server_link, .on_table = key_findings_on_table, .user = f};
    gtk_label_set_markup(GTK_LABEL(title), "<b>Key findings</b> (estimated gain)");
    gtk_label_set_xalign(GTK_LABEL(title), 0);
    gtk_widget_set_tooltip_text(title, "By how much the run could be shorter without it; an "
                                       "estimate.  poet report --all lists all findings");
    *widget = f->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    gtk_box_append(GTK_BOX(f->box), title);
    gtk_box_append(GTK_BOX(f->box), f->list);
    gtk_widget_set_visible(f->box, FALSE);
    g_signal_connect(f->box, "destroy", G_CALLBACK(key_findings_on_destroy), f);
    return f;
}

static void key_findings_send(void *user)
{
    struct key_findings *f = user;
    if (overview_overlay_is_busy(f->view)) {
        request_slot_schedule(&f->timer, REQUEST_AFTER_MS, key_findings_send, f);
        return;
    }
    f->events = f->view->server_link.count;
    for (unsigned i = 0; i < FROM_TABLES; i++) {
        struct table_request request = table_model_request(key_findings_tables[i].preset, "");
        request.top = key_findings_tables[i].top;
        if (i == FROM_PATH) /* with what-if gains of the largest segments */
            table_model_set_option(&request, "zeros", "2");
        if (i == FROM_ORDERS)
            key_findings_choose_orders(&request);
        if (i >= FROM_PREDICT && f->events > PREDICTED_EVENTS_MOST)
            table_request_free(&request);
        else
            table_model_send(&f->models[i], &request);
    }
}

bool key_findings_is_busy(const struct key_findings *f)
{
    bool busy = f->timer != 0;
    for (unsigned i = 0; i < FROM_TABLES; i++)
        busy |= table_model_is_running(&f->models[i]);
    return busy;
}

void key_findings_clear(struct key_findings *f)
{
    g_clear_handle_id(&f->timer, g_source_remove);
    f->events = 0;
    key_findings_clear_models(f);
    row_list_clear(f->list);
    key_findings_show(f, f->shown);
}

void key_findings_show(struct key_findings *f, bool shown)
{
    GtkWidget *first = gtk_widget_get_first_child(f->list);
    f->shown = shown;
    focus_set_visible(f->view, f->box, shown && first && GTK_IS_LIST_BOX_ROW(first));
}

void key_findings_notify(struct key_findings *f, enum notification what)
{
    if (what == NOTIFY_RUN_UPDATED && f->events && f->events != f->view->server_link.count)
        key_findings_clear(f);
    else if (what == NOTIFY_WAITS && f->events && f->asleep != blocked_panel_asleep(f->view))
        key_findings_on_table(f);
    else if (what == NOTIFY_QUIET && !f->timer)
        request_slot_schedule(&f->timer, REQUEST_AFTER_MS, key_findings_send, f);
}
