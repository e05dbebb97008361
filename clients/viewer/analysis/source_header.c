/* The header above the lines of a source: file chooser, message and search entry. */
#include "clients/viewer/analysis/source_tab.h"

#include "clients/sourcefile/annotated_source.h"
#include "clients/viewer/state/accessible_name.h"

#include <stdlib.h>
#include <string.h>

void source_header_show_message(struct source_header *h, const char *text)
{
    gtk_label_set_text(GTK_LABEL(h->label), text);
    gtk_widget_set_tooltip_text(h->label, *text ? text : NULL);
}

void source_header_show_file_state(struct source_header *h, const struct line_costs_file *file,
                                   const struct source_file_text *written, int64_t began_ns)
{
    char *text = NULL;
    if (file && !*file->path)
        text = g_strdup("Locations without debug information");
    else if (file && written->problem)
        text = g_strdup_printf("Source file: %s", written->problem);
    else if (file && written->changed_ns > began_ns)
        text = g_strdup("File modified after the run started: source lines may not match");
    source_header_show_message(h, text ? text : "");
    g_free(text);
}

static char *name_of(const struct line_costs *costs, const struct line_costs_file *file)
{
    char *path = annotated_source_path(line_costs_path(file)), *base = g_path_get_basename(path);
    char *name =
        g_strdup_printf("%s — %.1f %%", base, 100 * line_costs_share(costs, &file->figures));
    g_free(base);
    free(path);
    return name;
}

static bool are_same(struct source_header *h, char **names, uint32_t count)
{
    bool same = g_list_model_get_n_items(G_LIST_MODEL(h->names)) == count;
    for (guint i = 0; same && i < count; i++)
        same = strcmp(gtk_string_list_get_string(h->names, i), names[i]) == 0;
    return same;
}

void source_header_show_files(struct source_header *h, const struct line_costs *costs, uint32_t at)
{
    char **names = g_new0(char *, costs->file_count + 1);
    for (uint32_t i = 0; i < costs->file_count; i++)
        names[i] = name_of(costs, &costs->files[i]);
    h->quiet = true;
    if (!are_same(h, names, costs->file_count))
        gtk_string_list_splice(h->names, 0, g_list_model_get_n_items(G_LIST_MODEL(h->names)),
                               (const char *const *)names);
    if (costs->file_count)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(h->files), at);
    h->quiet = false;
    g_strfreev(names);
}

/* ---- input ---- */

static void on_file(GObject *object, GParamSpec *spec, gpointer data)
{
    struct source_header *h = data;
    guint at = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    if (!h->quiet && at != GTK_INVALID_LIST_POSITION)
        h->chosen(h->user, at);
}

static void on_find(GtkWidget *entry, gpointer data)
{
    struct source_header *h = data;
    h->sought(h->user, gtk_editable_get_text(GTK_EDITABLE(entry)));
}

static void on_stop(GtkWidget *entry, gpointer data)
{
    struct source_header *h = data;
    (void)entry;
    h->left(h->user);
}

static void source_header_set_label(GtkWidget *widget, const char *text)
{
    accessible_name_set(widget, text);
}

void source_header_build(struct source_header *h)
{
    h->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    h->names = gtk_string_list_new(NULL);
    h->files = gtk_drop_down_new(G_LIST_MODEL(h->names), NULL);
    h->entry = gtk_search_entry_new();
    h->label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(h->label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(h->label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(h->label, "dim-label");
    gtk_widget_set_hexpand(h->label, TRUE);
    source_header_set_label(h->files, "Files by share of time");
    source_header_set_label(h->entry, "Find in this file (Ctrl+F)");
    gtk_widget_set_tooltip_text(h->entry, "Find in this file (Ctrl+F; Enter: next match)");
    g_object_set(h->box, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    g_signal_connect(h->files, "notify::selected", G_CALLBACK(on_file), h);
    g_signal_connect(h->entry, "activate", G_CALLBACK(on_find), h);
    g_signal_connect(h->entry, "stop-search", G_CALLBACK(on_stop), h);
    gtk_box_append(GTK_BOX(h->box), h->files);
    gtk_box_append(GTK_BOX(h->box), h->label);
    gtk_box_append(GTK_BOX(h->box), h->entry);
}
