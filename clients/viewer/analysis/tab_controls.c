/* The controls above the table of a tab: buttons that choose its form, and the actions behind
 * them. */
#include "clients/viewer/analysis/tab.h"

#include "clients/viewer/diagram/viewer.h"

#include <string.h>

GSimpleAction *tab_controls_add_action(struct view *view, const char *name,
                                       const GVariantType *type, GVariant *state, GCallback does)
{
    GSimpleAction *action =
        state ? g_simple_action_new_stateful(name, type, state) : g_simple_action_new(name, type);
    g_signal_connect(action, "activate", does, view);
    g_action_map_add_action(G_ACTION_MAP(view->window), G_ACTION(action));
    g_object_unref(action);
    return action;
}

GtkWidget *tab_controls_forms(const char *action, const struct tab_form *forms, size_t count)
{
    GtkWidget *linked = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    char *name = g_strconcat("win.", action, NULL);
    gtk_widget_add_css_class(linked, "linked");
    for (size_t i = 0; i < count; i++) {
        GtkWidget *button = gtk_toggle_button_new_with_label(forms[i].label);
        gtk_actionable_set_action_name(GTK_ACTIONABLE(button), name);
        gtk_actionable_set_action_target(GTK_ACTIONABLE(button), "s", forms[i].name);
        gtk_widget_set_tooltip_text(button, forms[i].tooltip);
        gtk_box_append(GTK_BOX(linked), button);
    }
    g_free(name);
    return linked;
}

size_t tab_controls_choose(GSimpleAction *action, GVariant *wanted, const struct tab_form *forms,
                           size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(forms[i].name, g_variant_get_string(wanted, NULL)) != 0)
        i++;
    if (i < count)
        g_simple_action_set_state(action, wanted);
    return i;
}

GtkWidget *tab_controls_row(GtkWidget **row)
{
    GtkWidget *scrolled = gtk_scrolled_window_new();
    *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    g_object_set(*row, "margin-start", 8, "margin-end", 8, "margin-top", 4, "margin-bottom", 4,
                 NULL);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), *row);
    return scrolled;
}
