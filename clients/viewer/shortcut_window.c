#include "clients/viewer/shortcut_window.h"

#include "clients/viewer/dialogs.h"
#include "clients/viewer/diagram/viewer.h"

#include <string.h>

/* ---- rows: keys and actions ---- */

/* Returns the readable name of a key: "Ctrl+Shift+Z". */
static char *shortcut_window_key_name(const char *key)
{
    guint value;
    GdkModifierType modifiers;
    if (!gtk_accelerator_parse(key, &value, &modifiers))
        return g_strdup(key);
    return gtk_accelerator_get_label(value, modifiers);
}

/* Returns whether it is a variant of the previous key, which is not listed. */
static bool is_twin(const char *key)
{
    static const char *const twins[] = {"equal", "<Control>plus", "<Control>minus",
                                        "<Control><Shift>slash"};
    for (size_t i = 0; i < G_N_ELEMENTS(twins); i++)
        if (strcmp(key, twins[i]) == 0)
            return true;
    return strstr(key, "KP_") != NULL;
}

static char *shortcut_window_all_key_names(const char *keys)
{
    char **all = g_strsplit(keys, " ", -1);
    GString *s = g_string_new(NULL);
    for (char **key = all; *key; key++) {
        if (!**key || is_twin(*key))
            continue;
        char *name = shortcut_window_key_name(*key);
        g_string_append_printf(s, "%s%s", s->len ? " or " : "", name);
        g_free(name);
    }
    g_strfreev(all);
    return g_string_free(s, FALSE);
}

static void shortcut_window_add_row(GtkWidget *list, const char *group, const char *keys,
                                    const char *title)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    char *names = shortcut_window_all_key_names(keys);
    GtkWidget *what = gtk_label_new(title), *key = gtk_label_new(names);
    gtk_label_set_xalign(GTK_LABEL(what), 0);
    gtk_label_set_ellipsize(GTK_LABEL(what), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(what, TRUE);
    gtk_widget_add_css_class(key, "dim-label");
    g_object_set(box, "margin-top", 3, "margin-bottom", 3, "margin-start", 12, "margin-end", 12,
                 NULL);
    gtk_box_append(GTK_BOX(box), what);
    gtk_box_append(GTK_BOX(box), key);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
    g_object_set_data(G_OBJECT(row), "group", (gpointer)(guintptr)group);
    g_object_set_data_full(G_OBJECT(row), "words", g_strdup_printf("%s %s %s", group, title, names),
                           g_free);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
    g_free(names);
}

static void add_all(GtkWidget *list, const struct shortcut_tables *all)
{
    bool listed = false;
    for (size_t i = 0; i < all->action_count; i++) {
        const struct action *a = &all->actions[i];
        bool of_lines = strcmp(a->group, "Lines") == 0;
        for (size_t k = 0; of_lines && !listed && k < all->line_count; k++)
            shortcut_window_add_row(list, a->group, all->lines[k].key, all->lines[k].title);
        listed |= of_lines;
        if (*a->keys)
            shortcut_window_add_row(list, a->group, a->keys, a->title);
    }
}

/* ---- list ---- */

static void put_header(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
{
    const char *group = g_object_get_data(G_OBJECT(row), "group"),
               *last = before ? g_object_get_data(G_OBJECT(before), "group") : NULL;
    (void)data;
    if (g_strcmp0(group, last) == 0) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    GtkWidget *label = gtk_label_new(group);
    gtk_widget_add_css_class(label, "heading");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    g_object_set(label, "margin-top", 12, "margin-bottom", 4, "margin-start", 12, NULL);
    gtk_list_box_row_set_header(row, label);
}

static gboolean is_wanted(GtkListBoxRow *row, gpointer data)
{
    char *words = g_utf8_casefold(g_object_get_data(G_OBJECT(row), "words"), -1),
         *wanted = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(data)), -1);
    bool found = strstr(words, wanted) != NULL;
    g_free(words);
    g_free(wanted);
    return found;
}

void shortcut_window_show(struct view *view, const struct shortcut_tables *shortcuts)
{
    GtkWidget *window = dialog_new(view, "Keyboard shortcuts"),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *search = gtk_search_entry_new(),
              *list = gtk_list_box_new(), *scrolled = gtk_scrolled_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 560, 620);
    g_object_set(search, "placeholder-text", "Search keys and actions", "margin-top", 10,
                 "margin-start", 10, "margin-end", 10, NULL);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
    gtk_list_box_set_header_func(GTK_LIST_BOX(list), put_header, NULL, NULL);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(list), is_wanted, search, NULL);
    add_all(list, shortcuts);
    g_signal_connect_swapped(search, "changed", G_CALLBACK(gtk_list_box_invalidate_filter), list);
    g_signal_connect_swapped(search, "stop-search", G_CALLBACK(gtk_window_destroy), window);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_box_append(GTK_BOX(box), search);
    gtk_box_append(GTK_BOX(box), scrolled);
    gtk_window_set_child(GTK_WINDOW(window), box);
    gtk_window_present(GTK_WINDOW(window));
}
