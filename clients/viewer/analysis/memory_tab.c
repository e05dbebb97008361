/* The tab Memory: heap memory that was allocated and not freed, by allocation site, or each block;
 * beside it the call stack of the selected row. */
#include "clients/viewer/analysis/allocation_stack.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab_controls.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"

/* Attached to the window. */
struct memory_tab {
    struct tab_instance *paged;
    bool blocks; /* else allocation sites */
};

static const struct tab_form memory_tab_forms[] = {
    {"sites", "Sites", "By allocation site and thread"},
    {"blocks", "Blocks", "Each block that was not freed: address, size, call stack"}};

static struct memory_tab *memory_tab_state(struct view *view)
{
    return g_object_get_data(G_OBJECT(view->window), "memory");
}

static void memory_tab_extend_request(struct view *view, struct table_request *r)
{
    if (!memory_tab_state(view)->blocks)
        return;
    g_free(r->by);
    r->by = g_strdup("block");
}

/* ---- selection ---- */

static void memory_tab_on_row_selected(struct view *view, const struct result_table *t, int row)
{
    metric_page_select(view, METRIC_PAGE_MEMORY, t, row);
    allocation_stack_show(view, t, row);
    struct event_id before = row < 0 ? (struct event_id){0} : t->rows[row].event;
    if (before.line) /* its thread's last event before the allocation */
        go_to_event(view, before, NO_POSITION);
}

static void memory_tab_on_notification(struct view *view, enum notification what)
{
    metric_page_on_notification(view, METRIC_PAGE_MEMORY, what);
}

static void memory_tab_clear_curve(struct view *view)
{
    static const struct result_table none;
    metric_page_clear(view, METRIC_PAGE_MEMORY);
    allocation_stack_show(view, &none, -1);
}

/* ---- controls ---- */

static void on_form(GSimpleAction *action, GVariant *wanted, gpointer data)
{
    static const struct result_table none;
    struct memory_tab *s = memory_tab_state(data);
    size_t form =
        tab_controls_choose(action, wanted, memory_tab_forms, G_N_ELEMENTS(memory_tab_forms));
    if (form < G_N_ELEMENTS(memory_tab_forms))
        s->blocks = form == 1;
    allocation_stack_show(data, &none, -1);
    tab_request(s->paged);
}

/* Returns the curve, with the buttons beside it. */
static GtkWidget *memory_tab_create_header(struct view *view)
{
    struct memory_tab *s = g_new0(struct memory_tab, 1);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0), *forms,
              *curve = metric_page_curve_above(view, METRIC_PAGE_MEMORY);
    g_object_set_data_full(G_OBJECT(view->window), "memory", s, g_free);
    tab_controls_add_action(view, "memory-form", G_VARIANT_TYPE_STRING,
                            g_variant_new_string(memory_tab_forms[0].name), G_CALLBACK(on_form));
    forms = tab_controls_forms("memory-form", memory_tab_forms, G_N_ELEMENTS(memory_tab_forms));
    g_object_set(forms, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 "valign", GTK_ALIGN_END, NULL);
    gtk_widget_set_hexpand(curve, TRUE);
    gtk_box_append(GTK_BOX(head), curve);
    gtk_box_append(GTK_BOX(head), forms);
    return head;
}

static void memory_tab_on_created(struct view *view, struct tab_instance *paged)
{
    memory_tab_state(view)->paged = paged;
}

static const struct tab_aside memory_tab_stack = {
    .share = 0.33, .widget = allocation_stack_widget, .print = allocation_stack_print};

const struct tab page_memory = {
    .name = "memory",
    .title = "Memory",
    .preset = "memory",
    .row_kind = "",
    .empty_text = "No heap data: start with poet record -m memory.",
    .no_rows_text = "All blocks were freed.",
    .tooltip =
        "Heap memory that was not freed, by allocation site and thread, or each block; a row leads "
        "to its call stack, and to the event before its first block",
    .header = memory_tab_create_header,
    .selected = memory_tab_on_row_selected,
    .aside = &memory_tab_stack,
    .on_notification = memory_tab_on_notification,
    .clear = memory_tab_clear_curve,
    .on_created = memory_tab_on_created,
    .request = memory_tab_extend_request,
};
