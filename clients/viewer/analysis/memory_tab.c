/* The tab Memory: heap memory that was allocated and not freed, by allocation site, or each block;
 * beside it the call stack of the selected row. */
#include "clients/connection/result_table.h"
#include "clients/connection/stack_frames.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"

#include <gtk/gtk.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- call stack of the selected row, beside the table ---- */

struct allocation_stack {
    GtkWidget *scrolled, *title, *frames;
};

static const struct viewer_addon allocation_stack_addon = {"allocation_stack",
                                                           sizeof(struct allocation_stack)};

static struct allocation_stack *allocation_stack_find(struct view *view)
{
    return viewer_addons_find(&view->addons, &allocation_stack_addon);
}

/* Adds the functions of a call, inlined ones first; each is a link to its source line. */
static void allocation_stack_add_call(GString *text, const struct table_names *names,
                                      struct table_place place, unsigned *number)
{
    for (uint32_t i = 0; i < stack_frames_count(names, place); i++) {
        char *frame = stack_frames_text(names, place, i), *shown = g_markup_escape_text(frame, -1);
        g_string_append_printf(text, "%s#%-2u <a href=\"%x:%llx\">%s</a>", text->len ? "\n" : "",
                               (*number)++, place.process, (unsigned long long)place.address,
                               shown);
        g_free(shown);
        free(frame);
    }
}

/* Shows the stack of a row; -1: none. */
static void allocation_stack_show(struct view *view, const struct result_table *t, int row)
{
    struct allocation_stack *s = allocation_stack_find(view);
    struct table_names names = {view_metadata(view), view->server_link.sites};
    const struct table_row *of = row < 0 || row >= (int)t->row_count ? NULL : &t->rows[row];
    uint32_t at = result_table_find_column(t, "address");
    GString *text = g_string_new(NULL);
    unsigned number = 0;
    for (uint32_t i = 0; of && i < of->context_count; i++)
        allocation_stack_add_call(text, &names, of->context[i], &number);
    const struct table_cell *address =
        of && at < t->column_count ? &result_table_cells(t, (uint32_t)row)[at] : NULL;
    char *title = address && address->is == CELL_TEXT
                      ? g_strdup_printf("Call stack of %s", address->text)
                      : g_strdup("Call stack of the first allocation");
    gtk_label_set_text(GTK_LABEL(s->title), title);
    gtk_label_set_markup(GTK_LABEL(s->frames), text->str);
    gtk_widget_set_visible(s->scrolled, number > 0);
    g_free(title);
    g_string_free(text, TRUE);
}

/* Prints a line for each frame, the innermost first. */
static void allocation_stack_print(struct view *view, FILE *f)
{
    struct allocation_stack *s = allocation_stack_find(view);
    if (gtk_widget_get_visible(s->scrolled))
        fprintf(f, "%s\n%s\n", gtk_label_get_text(GTK_LABEL(s->title)),
                gtk_label_get_text(GTK_LABEL(s->frames)));
}

static gboolean allocation_stack_on_link(GtkLabel *label, const char *uri, gpointer data)
{
    (void)data;
    return gtk_widget_activate_action(GTK_WIDGET(label), "win.source-line", "s", uri);
}

static GtkWidget *allocation_stack_label(void)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    g_object_set(label, "margin-start", 8, "margin-end", 8, "margin-top", 4, NULL);
    return label;
}

static struct allocation_stack *allocation_stack_create(struct view *view)
{
    struct allocation_stack *s = viewer_addons_add(&view->addons, &allocation_stack_addon);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    s->title = allocation_stack_label();
    s->frames = allocation_stack_label();
    s->scrolled = gtk_scrolled_window_new();
    gtk_label_set_selectable(GTK_LABEL(s->frames), TRUE);
    g_signal_connect(s->frames, "activate-link", G_CALLBACK(allocation_stack_on_link), NULL);
    gtk_box_append(GTK_BOX(box), s->title);
    gtk_box_append(GTK_BOX(box), s->frames);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(s->scrolled), box);
    gtk_widget_set_visible(s->scrolled, FALSE);
    return s;
}

/* Returns the widget, created by the first call; hidden unless there is a stack. */
static GtkWidget *allocation_stack_widget(struct view *view)
{
    struct allocation_stack *s = allocation_stack_find(view);
    return (s ? s : allocation_stack_create(view))->scrolled;
}

/* ---- the tab ---- */

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
    .whole_run = "times of frees are not recorded",
    .aside = &memory_tab_stack,
    .on_notification = memory_tab_on_notification,
    .clear = memory_tab_clear_curve,
    .on_created = memory_tab_on_created,
    .request = memory_tab_extend_request,
};
