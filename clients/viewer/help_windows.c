/* The windows of help: the help page, the keyboard shortcuts, and the About dialog. */
#include "clients/viewer/actions.h"

#include "clients/cli/version.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/state/accessible_name.h"

#include <string.h>

/* ---- help page ---- */

static const char help_text[] =
    "<b>Reading the diagram</b>\n"
    "Each row is a line: a thread, a lock, a queue or another object. A mark is an event; time "
    "runs to the right. Simultaneous events are in one column, and arrows lead from cause to "
    "effect. Two events without a causal chain between them are <i>concurrent</i>. F2 shows the "
    "legend.\n\n"
    "<b>Analyzing</b>\n"
    "Click an event: its causal past turns blue, its future orange. Ctrl+click a second event to "
    "see which happened first and why: the status line names their relation, and the causal chain "
    "is highlighted. W goes to the longest-blocked thread. Ctrl+F finds event types, lines, "
    "annotations and source locations.\n\n"
    "Drag over the ruler to select a range of time, or over rows with Shift held: the analysis "
    "pane is then about it and the threads of these rows. Its ends can be moved, Shift+R zooms to "
    "it, Escape clears it. Click the ruler for a cursor, Ctrl+click it for a second one: their "
    "distance is shown.\n\n"
    "<b>Navigating</b>\n"
    "Drag, turn the wheel, or press Shift and an arrow key to scroll; Home and End go to the start "
    "and the end. + and - zoom, * shows the whole run. Arrow keys alone go from event to event, "
    "Enter to the partner event, [ and ] to the nearest cause and effect. Ctrl+Z undoes any view "
    "change, Escape goes back.\n\n"
    "<b>Saving</b>\n"
    "Ctrl+D adds a note to the selected event; notes are saved with the trace. Ctrl+S exports the "
    "diagram.\n\n"
    "Ctrl+? lists all keys. More is in the manual: <tt>man poet-view</tt>.";

void help_show_page(struct view *view)
{
    GtkWidget *window = dialog_new(view, "Help"), *text = gtk_label_new(NULL);
    gtk_label_set_markup(GTK_LABEL(text), help_text);
    gtk_label_set_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(text), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(text), 70);
    g_object_set(text, "margin-top", 18, "margin-bottom", 18, "margin-start", 22, "margin-end", 22,
                 NULL);
    gtk_window_set_child(GTK_WINDOW(window), dialog_scrolled(text));
    gtk_window_present(GTK_WINDOW(window));
}

/* ---- about ---- */

/* Unselects the name, which GTK selects at first, and hides the icon if it is not installed. */
static void about_fix_widgets(GtkWidget *in, bool has_icon)
{
    if (GTK_IS_LABEL(in) && gtk_label_get_selectable(GTK_LABEL(in)))
        gtk_label_select_region(GTK_LABEL(in), 0, 0);
    if (GTK_IS_IMAGE(in) && !has_icon)
        gtk_widget_set_visible(in, FALSE);
    for (GtkWidget *child = gtk_widget_get_first_child(in); child;
         child = gtk_widget_get_next_sibling(child))
        about_fix_widgets(child, has_icon);
}

void help_show_about(struct view *view)
{
    static const char icon[] = "io.github.poet.View";
    GtkIconTheme *theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(view->window));
    bool has_icon = gtk_icon_theme_has_icon(theme, icon);
    GtkWidget *about = gtk_about_dialog_new();
    g_object_set(about, "program-name", "Poet", "version", POET_VERSION, "comments",
                 "Event order, waits and deadlocks of concurrent programs", "copyright",
                 "© 2026 the Poet authors", "license-type", GTK_LICENSE_MIT_X11, "logo-icon-name",
                 has_icon ? icon : NULL, "title", "About Poet", "transient-for", view->window,
                 "modal", TRUE, NULL);
    dialog_close_on_escape(about);
    gtk_window_present(GTK_WINDOW(about));
    about_fix_widgets(gtk_window_get_child(GTK_WINDOW(about)), has_icon);
    gtk_window_set_focus(GTK_WINDOW(about), NULL);
}

/* ---- shortcuts: rows of keys and actions ---- */

/* Returns the readable name of a key: "Ctrl+Shift+Z". */
static char *shortcut_key_name(const char *key)
{
    guint value;
    GdkModifierType modifiers;
    if (!gtk_accelerator_parse(key, &value, &modifiers))
        return g_strdup(key);
    return gtk_accelerator_get_label(value, modifiers);
}

/* Returns whether it is a variant of the previous key, which is not listed. */
static bool shortcut_is_twin(const char *key)
{
    static const char *const twins[] = {"equal", "<Control>plus", "<Control>minus",
                                        "<Control><Shift>slash"};
    for (size_t i = 0; i < G_N_ELEMENTS(twins); i++)
        if (strcmp(key, twins[i]) == 0)
            return true;
    return strstr(key, "KP_") != NULL;
}

static char *shortcut_all_key_names(const char *keys)
{
    char **all = g_strsplit(keys, " ", -1);
    GString *s = g_string_new(NULL);
    for (char **key = all; *key; key++) {
        if (!**key || shortcut_is_twin(*key))
            continue;
        char *name = shortcut_key_name(*key);
        g_string_append_printf(s, "%s%s", s->len ? " or " : "", name);
        g_free(name);
    }
    g_strfreev(all);
    return g_string_free(s, FALSE);
}

static void shortcut_add_row(GtkWidget *list, const char *group, const char *keys,
                             const char *title)
{
    GtkWidget *row = gtk_list_box_row_new(), *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    char *names = shortcut_all_key_names(keys);
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
    accessible_name_from(row, what);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), FALSE);
    g_object_set_data(G_OBJECT(row), "group", (gpointer)(guintptr)group);
    g_object_set_data_full(G_OBJECT(row), "words", g_strdup_printf("%s %s %s", group, title, names),
                           g_free);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
    g_free(names);
}

static void shortcut_add_all(GtkWidget *list, const struct shortcut_tables *all)
{
    bool listed = false;
    for (size_t i = 0; i < all->action_count; i++) {
        const struct action *a = &all->actions[i];
        bool of_lines = strcmp(a->group, "Lines") == 0;
        for (size_t k = 0; of_lines && !listed && k < all->line_count; k++)
            shortcut_add_row(list, a->group, all->lines[k].key, all->lines[k].title);
        listed |= of_lines;
        if (*a->keys)
            shortcut_add_row(list, a->group, a->keys, a->title);
    }
}

/* ---- shortcuts: the list ---- */

static void shortcut_put_header(GtkListBoxRow *row, GtkListBoxRow *before, gpointer data)
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

static gboolean shortcut_is_wanted(GtkListBoxRow *row, gpointer data)
{
    char *words = g_utf8_casefold(g_object_get_data(G_OBJECT(row), "words"), -1),
         *wanted = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(data)), -1);
    bool found = strstr(words, wanted) != NULL;
    g_free(words);
    g_free(wanted);
    return found;
}

void help_show_shortcuts(struct view *view, const struct shortcut_tables *shortcuts)
{
    GtkWidget *window = dialog_new(view, "Keyboard shortcuts"),
              *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6), *search = gtk_search_entry_new(),
              *list = gtk_list_box_new(), *scrolled = gtk_scrolled_window_new();
    gtk_window_set_default_size(GTK_WINDOW(window), 560, 620);
    g_object_set(search, "placeholder-text", "Search keys and actions", "margin-top", 10,
                 "margin-start", 10, "margin-end", 10, NULL);
    accessible_name_set(search, "Search keys and actions");
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
    gtk_list_box_set_header_func(GTK_LIST_BOX(list), shortcut_put_header, NULL, NULL);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(list), shortcut_is_wanted, search, NULL);
    shortcut_add_all(list, shortcuts);
    g_signal_connect_swapped(search, "changed", G_CALLBACK(gtk_list_box_invalidate_filter), list);
    g_signal_connect_swapped(search, "stop-search", G_CALLBACK(gtk_window_destroy), window);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), list);
    gtk_widget_set_vexpand(scrolled, TRUE);
    gtk_box_append(GTK_BOX(box), search);
    gtk_box_append(GTK_BOX(box), scrolled);
    gtk_window_set_child(GTK_WINDOW(window), box);
    gtk_window_present(GTK_WINDOW(window));
}
