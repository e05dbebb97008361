/* The tab Waits: where threads waited, for which threads, and what those did meanwhile. */
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/state/highlights.h"
#include "clients/viewer/state/request_slot.h"

#include <string.h>

#define WAITS_MOST 5000u /* the longest, among which those of a row are searched */

/* Attached to the window. */
struct waits_tab {
    struct view *view;
    GtkWidget *label, *button, *box;
    struct table_model waits; /* single waits */
    /* what the waits of the selected row have in common */
    struct table_place where;
    char *type, *kind; /* of the wait; of the object; NULL: none */
    bool wanted; /* mark the events of the waits once they are known */
};

static struct waits_tab *waits_tab_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "single waits");
}

/* ---- waits of a row ---- */

static bool is_text(const struct table_cell *cell, const char *text)
{
    return text ? cell->is == CELL_TEXT && strcmp(cell->text, text) == 0 : cell->is == CELL_NULL;
}

static bool is_kind(struct view *view, const struct table_cell *cell, const char *kind)
{
    if (cell->is != CELL_LINE)
        return !kind;
    const struct target_line_type *is = metadata_line_type(view_metadata(view), cell->line);
    return kind && is && strcmp(is->name, kind) == 0;
}

static void waits_tab_mark_waits(struct view *view, struct waits_tab *s)
{
    const struct result_table *t = &s->waits.table;
    uint32_t where = result_table_find_column(t, "location"),
             type = result_table_find_column(t, "type"),
             what = result_table_find_column(t, "object"),
             until = result_table_find_column(t, "end_event"), n = t->column_count;
    s->wanted = false;
    if (where == n || type == n || what == n || until == n)
        return;
    GArray *events = g_array_new(FALSE, FALSE, sizeof(struct event_id));
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        struct table_place place =
            cells[where].is == CELL_PLACE ? cells[where].place : (struct table_place){0};
        if (t->rows[i].depth || place.address != s->where.address ||
            place.process != s->where.process || !is_text(&cells[type], s->type) ||
            !is_kind(view, &cells[what], s->kind))
            continue;
        g_array_append_val(events, t->rows[i].event);
        if (cells[until].is == CELL_EVENT)
            g_array_append_val(events, cells[until].event);
    }
    highlights_add(&view->highlights, (struct event_id *)(void *)events->data, events->len);
    g_array_free(events, TRUE);
    notifier_emit(&view->notifier, NOTIFY_HITS);
}

static void waits_tab_on_table(void *user)
{
    struct waits_tab *s = user;
    if (s->waits.fresh && s->wanted)
        waits_tab_mark_waits(s->view, s);
    s->waits.fresh = false;
}

static void waits_tab_request_waits(struct waits_tab *s)
{
    struct table_request request = table_model_request("waits", "wait");
    request.top = WAITS_MOST;
    time_range_limit_threads(s->view, &request);
    s->wanted = true;
    table_model_send(&s->waits, &request);
}

static char *text_view_of(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? g_strdup(cell->text) : NULL;
}

static void waits_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    struct waits_tab *s = waits_tab_state(view);
    uint32_t where = result_table_find_column(t, "location"),
             type = result_table_find_column(t, "type"),
             what = result_table_find_column(t, "object"), n = t->column_count;
    s->wanted = false;
    if (row < 0 || where == n || type == n || what == n)
        return;
    const struct table_cell *cells = result_table_cells(t, (uint32_t)row);
    g_free(s->type);
    g_free(s->kind);
    s->where = cells[where].is == CELL_PLACE ? cells[where].place : (struct table_place){0};
    s->type = text_view_of(&cells[type]);
    s->kind = text_view_of(&cells[what]);
    wait_cause_request(view, t->rows[row].event);
    waits_tab_request_waits(s);
}

/* ---- cause ---- */

static void waits_tab_show_cause(struct view *view)
{
    struct waits_tab *s = waits_tab_state(view);
    const char *sentence = wait_cause_sentence(view, NULL);
    gtk_label_set_text(GTK_LABEL(s->label), sentence ? sentence : "");
    gtk_widget_set_tooltip_text(s->label, sentence);
    gtk_widget_set_visible(s->box, sentence != NULL);
}

static void waits_tab_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_WAIT_CAUSE || what == NOTIFY_TAB_SHOWN)
        waits_tab_show_cause(view);
}

static void waits_tab_clear_waits(struct view *view)
{
    struct waits_tab *s = waits_tab_state(view);
    table_model_clear(&s->waits);
    s->wanted = false;
}

static void free_single(gpointer data)
{
    struct waits_tab *s = data;
    g_free(s->type);
    g_free(s->kind);
    result_table_free(&s->waits.table);
    g_free(s);
}

static GtkWidget *waits_tab_create_cause_box(struct view *view)
{
    struct waits_tab *s = g_new0(struct waits_tab, 1);
    s->view = view;
    s->waits =
        (struct table_model){.link = &view->server_link, .on_table = waits_tab_on_table, .user = s};
    s->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    s->label = gtk_label_new("");
    s->button = gtk_button_new_with_label("Go to waker");
    gtk_label_set_xalign(GTK_LABEL(s->label), 0);
    gtk_label_set_wrap(GTK_LABEL(s->label), TRUE);
    gtk_label_set_lines(GTK_LABEL(s->label), 3);
    gtk_label_set_ellipsize(GTK_LABEL(s->label), PANGO_ELLIPSIZE_END);
    gtk_label_set_selectable(GTK_LABEL(s->label), TRUE);
    gtk_widget_set_hexpand(s->label, TRUE);
    gtk_widget_set_valign(s->button, GTK_ALIGN_CENTER);
    gtk_widget_set_tooltip_text(s->button, "Go to the event that ended the wait (Ctrl+[)");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(s->button), "win.wait-cause");
    g_object_set(s->box, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    gtk_box_append(GTK_BOX(s->box), s->label);
    gtk_box_append(GTK_BOX(s->box), s->button);
    gtk_widget_set_visible(s->box, FALSE);
    g_object_set_data_full(G_OBJECT(view->window), "single waits", s, free_single);
    return s->box;
}

static const struct grid_column waits_tab_shown_columns[] = {
    {"waited_ns", "attributed_ns", "wait time, attributed (ms)"},
    {"share", NULL, NULL},
    {"count", NULL, NULL},
    {"location", "segment", "location, code segment"},
    {"type", "direct", "operation"},
    {"object", "thread", "waits for, thread"},
    {"cause", NULL, NULL},
    {"unblocked_at", NULL, NULL},
    {0}};

const struct tab page_waits = {
    .name = "waits",
    .title = "Waits",
    .preset = "waits",
    .row_kind = "",
    .empty_text = "No waits between threads.",
    .tooltip = "Where threads waited and what caused it",
    .columns = waits_tab_shown_columns,
    .header = waits_tab_create_cause_box,
    .selected = waits_tab_on_row_selected,
    .pointed = wait_cause_go_to,
    .on_notification = waits_tab_on_notification,
    .clear = waits_tab_clear_waits,
};
