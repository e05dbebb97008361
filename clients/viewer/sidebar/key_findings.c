#include "clients/viewer/sidebar/key_findings.h"

#include "clients/metadata/event_text.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/request_slot.h"

#include <stdlib.h>

#define FINDINGS_SHOWN 5u
#define REQUEST_AFTER_MS 100u /* the overview and the critical path come first */

struct key_findings {
    struct view *view;
    struct table_model model;
    GtkWidget *box, *list;
    guint timer;
    uint64_t events; /* of the run when they were requested; 0: they were not */
    bool shown;
};

static const struct table_cell *key_finding_cell(const struct result_table *t, uint32_t row,
                                                 const char *name)
{
    static const struct table_cell none;
    uint32_t column = result_table_find_column(t, name);
    return column < t->column_count ? &result_table_cells(t, row)[column] : &none;
}

/* Returns a cell as text, "" if it is empty, in new memory. */
static char *key_finding_text(const struct key_findings *f, uint32_t row, const char *name)
{
    const struct result_table *t = &f->model.table;
    struct table_names names = {view_metadata(f->view), f->view->server_link.sites};
    const struct table_cell *cell = key_finding_cell(t, row, name);
    return cell->is == CELL_NULL
               ? g_strdup("")
               : result_table_cell_text(&names, &t->columns[result_table_find_column(t, name)],
                                        cell);
}

static int64_t key_finding_gain_ns(const struct result_table *t, uint32_t row)
{
    const struct table_cell *gain = key_finding_cell(t, row, "gain_ns");
    return gain->is == CELL_NUMBER ? gain->number : 0;
}

/* Returns the row with the largest gain below `most`, or of the same gain behind `after`; the
 * number of rows if there is none. */
static uint32_t key_finding_next(const struct result_table *t, int64_t most, uint32_t after)
{
    uint32_t next = t->row_count;
    int64_t largest = 0;
    for (uint32_t i = 0; i < t->row_count; i++) {
        int64_t gain = t->rows[i].depth ? 0 : key_finding_gain_ns(t, i);
        if (gain > largest && (gain < most || (gain == most && i > after))) {
            largest = gain;
            next = i;
        }
    }
    return next;
}

static void key_findings_add_row(struct key_findings *f, uint32_t row)
{
    char gain[60], *finding = key_finding_text(f, row, "finding"),
                   *thread = key_finding_text(f, row, "thread"),
                   *object = key_finding_text(f, row, "object"),
                   *place = key_finding_text(f, row, "location");
    duration_text(gain, sizeof gain, key_finding_gain_ns(&f->model.table, row));
    char *text = g_markup_printf_escaped("<b>%s</b>  %s\n%s%s%s%s%s", gain, finding, thread,
                                         *object ? ", " : "", object, *place ? " at " : "", place);
    row_list_add(f->list, text, f->model.table.rows[row].event);
    g_free(text);
    free(finding);
    free(thread);
    free(object);
    free(place);
}

static void key_findings_on_table(void *user)
{
    struct key_findings *f = user;
    const struct result_table *t = &f->model.table;
    if (!f->model.fresh)
        return;
    row_list_clear(f->list);
    int64_t most = INT64_MAX;
    uint32_t row = 0, count = 0;
    while (!t->problem && count < FINDINGS_SHOWN &&
           (row = key_finding_next(t, most, row)) < t->row_count) {
        key_findings_add_row(f, row);
        most = key_finding_gain_ns(t, row);
        count++;
    }
    key_findings_show(f, f->shown);
}

static void key_findings_on_destroy(GtkWidget *widget, gpointer data)
{
    struct key_findings *f = data;
    (void)widget;
    g_clear_handle_id(&f->timer, g_source_remove);
    table_model_clear(&f->model);
    g_free(f);
}

struct key_findings *key_findings_new(struct view *view, GtkWidget **widget)
{
    struct key_findings *f = g_new0(struct key_findings, 1);
    GtkWidget *title = gtk_label_new(NULL);
    f->view = view;
    f->list = row_list_rows(view);
    f->model = (struct table_model){
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
    struct table_request request = table_model_request("findings", "");
    f->events = f->view->server_link.count;
    table_model_send(&f->model, &request);
}

bool key_findings_is_busy(const struct key_findings *f)
{
    return f->timer || table_model_is_running(&f->model);
}

void key_findings_clear(struct key_findings *f)
{
    g_clear_handle_id(&f->timer, g_source_remove);
    f->events = 0;
    table_model_clear(&f->model);
    row_list_clear(f->list);
    key_findings_show(f, f->shown);
}

void key_findings_show(struct key_findings *f, bool shown)
{
    GtkWidget *first = gtk_widget_get_first_child(f->list);
    f->shown = shown;
    gtk_widget_set_visible(f->box, shown && first && GTK_IS_LIST_BOX_ROW(first));
}

void key_findings_notify(struct key_findings *f, enum notification what)
{
    if (what == NOTIFY_RUN_UPDATED && f->events && f->events != f->view->server_link.count)
        key_findings_clear(f);
    else if (what == NOTIFY_QUIET && !f->timer)
        request_slot_schedule(&f->timer, REQUEST_AFTER_MS, key_findings_send, f);
}
