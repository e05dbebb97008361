#include "clients/viewer/analysis/allocation_stack.h"

#include "clients/connection/stack_frames.h"
#include "clients/viewer/diagram/viewer.h"

#include <stdlib.h>

struct allocation_stack {
    GtkWidget *scrolled, *title, *frames;
};

static const struct viewer_addon allocation_stack_addon = {"allocation_stack",
                                                           sizeof(struct allocation_stack)};

static struct allocation_stack *allocation_stack_find(struct view *view)
{
    return viewer_addons_find(&view->addons, &allocation_stack_addon);
}

/* ---- contents ---- */

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

void allocation_stack_show(struct view *view, const struct result_table *t, int row)
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

void allocation_stack_print(struct view *view, FILE *f)
{
    struct allocation_stack *s = allocation_stack_find(view);
    if (gtk_widget_get_visible(s->scrolled))
        fprintf(f, "%s\n%s\n", gtk_label_get_text(GTK_LABEL(s->title)),
                gtk_label_get_text(GTK_LABEL(s->frames)));
}

/* ---- construction ---- */

static gboolean on_link(GtkLabel *label, const char *uri, gpointer data)
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
    g_signal_connect(s->frames, "activate-link", G_CALLBACK(on_link), NULL);
    gtk_box_append(GTK_BOX(box), s->title);
    gtk_box_append(GTK_BOX(box), s->frames);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(s->scrolled), box);
    gtk_widget_set_visible(s->scrolled, FALSE);
    return s;
}

GtkWidget *allocation_stack_widget(struct view *view)
{
    struct allocation_stack *s = allocation_stack_find(view);
    return (s ? s : allocation_stack_create(view))->scrolled;
}
