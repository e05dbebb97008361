#include "clients/viewer/sidebar/panel.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"

void panel_keep(struct view *view, const struct panel *panel, void *state)
{
    g_object_set_data_full(G_OBJECT(view->panels), panel->name, state, g_free);
}

void *panel_state(const struct view *view, const struct panel *panel)
{
    return g_object_get_data(G_OBJECT(view->panels), panel->name);
}

void panel_show(struct view *view, const char *name)
{
    gtk_stack_set_visible_child_name(GTK_STACK(view->panels), name);
    if (!view->viewer_settings.panel) {
        view->viewer_settings.panel = true;
        notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    }
}

bool panel_is_first(struct view *view)
{
    return gtk_stack_get_visible_child(GTK_STACK(view->panels)) ==
           gtk_widget_get_first_child(view->panels);
}

void panel_back(struct view *view)
{
    GtkWidget *first = gtk_widget_get_first_child(view->panels);
    focus_leave(view, view->panels); /* the stack would move it to the first widget of that page */
    if (first)
        gtk_stack_set_visible_child(GTK_STACK(view->panels), first);
}

/* ---- row lists ---- */

static void row_list_on_row(GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
    struct event_id at;
    const char *event = g_object_get_data(G_OBJECT(row), "event"),
               *action = g_object_get_data(G_OBJECT(row), "action");
    (void)list;
    if (action)
        gtk_widget_activate_action(GTK_WIDGET(row), action, NULL);
    if (event && event_id_parse(event, &at))
        go_to_event(data, at, NO_POSITION);
}

void row_list_add_action(GtkWidget *list, const char *markup, struct event_id at,
                         const char *action)
{
    GtkWidget *label = gtk_label_new(NULL), *row = gtk_list_box_row_new();
    char text[48];
    gtk_label_set_markup(GTK_LABEL(label), markup);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    g_object_set(label, "margin-top", 4, "margin-bottom", 4, "margin-start", 8, "margin-end", 8,
                 NULL);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    accessible_name_from(row, label);
    if (at.line) {
        event_id_print(text, sizeof text, at);
        g_object_set_data_full(G_OBJECT(row), "event", g_strdup(text), g_free);
    }
    g_object_set_data(G_OBJECT(row), "action", (gpointer)(uintptr_t)action);
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), at.line != 0 || action);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
}

void row_list_add(GtkWidget *list, const char *markup, struct event_id at)
{
    row_list_add_action(list, markup, at, NULL);
}

void row_list_clear(GtkWidget *list)
{
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(list)) && GTK_IS_LIST_BOX_ROW(row))
        gtk_list_box_remove(GTK_LIST_BOX(list), row);
}

/* Without it, Enter would be a key of the diagram in a list, too. */
static GtkEventController *row_list_keys(void)
{
    GtkEventController *keys = gtk_shortcut_controller_new();
    GtkShortcutTrigger *enter = gtk_alternative_trigger_new(
        gtk_keyval_trigger_new(GDK_KEY_Return, 0), gtk_keyval_trigger_new(GDK_KEY_KP_Enter, 0));
    gtk_shortcut_controller_add_shortcut(
        GTK_SHORTCUT_CONTROLLER(keys),
        gtk_shortcut_new(enter, gtk_signal_action_new("activate-cursor-row")));
    return keys;
}

GtkWidget *row_list_rows(struct view *view)
{
    GtkWidget *list = gtk_list_box_new();
    gtk_widget_add_controller(list, row_list_keys());
    focus_tab_past_rows(list);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_BROWSE);
    g_signal_connect(list, "row-activated", G_CALLBACK(row_list_on_row), view);
    return list;
}

GtkWidget *row_list_new(struct view *view, GtkWidget **list, const char *nothing)
{
    GtkWidget *scrolled = gtk_scrolled_window_new(), *label = gtk_label_new(nothing);
    *list = row_list_rows(view);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    g_object_set(label, "margin-top", 20, "margin-start", 10, "margin-end", 10, NULL);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(*list), label);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), *list);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scrolled;
}
