#include "clients/viewer/keymap.h"

#include "clients/viewer/focus_return.h"
#include "clients/viewer/diagram/viewer.h"

#include <string.h>

static bool with_modifier(const char *key)
{
    return g_str_has_prefix(key, "<Control>") || g_str_has_prefix(key, "<Alt>") ||
           (key[0] == 'F' && g_ascii_isdigit(key[1])) || g_str_has_prefix(key, "<Shift>F");
}

/* Activates the action of a plain key: "win.NAME" or "win.NAME::TARGET". */
static gboolean on_plain_key(GtkWidget *widget, GVariant *target, gpointer data)
{
    struct view *view = data;
    GVariant *of_action = NULL;
    char *name = NULL;
    (void)widget;
    bool known =
        !focus_is_in_entry(view) &&
        g_action_parse_detailed_name(g_variant_get_string(target, NULL), &name, &of_action, NULL);
    GAction *action =
        known ? g_action_map_lookup_action(G_ACTION_MAP(view->window), name + strlen("win."))
              : NULL;
    bool does = action && g_action_get_enabled(action);
    if (does)
        g_action_activate(action, of_action);
    g_clear_pointer(&of_action, g_variant_unref);
    g_free(name);
    return does;
}

/* Plain keys belong to the diagram, and reach it from any widget that does not handle them, but
 * never from a text entry; all others belong to the window, after the focused widget: in an entry
 * Ctrl+C copies its selection. */
void keymap_add(struct view *view, const struct keymap *keys, const char *key, const char *action,
                GVariant *target)
{
    GtkShortcutTrigger *trigger = gtk_shortcut_trigger_parse_string(key);
    if (!trigger) {
        g_warning("no such key: %s", key);
        return;
    }
    GtkShortcut *shortcut = gtk_shortcut_new(g_object_ref(trigger), gtk_named_action_new(action));
    if (target)
        gtk_shortcut_set_arguments(shortcut, target);
    gtk_shortcut_controller_add_shortcut(with_modifier(key) ? keys->window : keys->canvas,
                                         shortcut);
    char *full = target ? g_strdup_printf("%s::%s", action, g_variant_get_string(target, NULL))
                        : g_strdup(action);
    if (!with_modifier(key)) {
        GtkShortcut *elsewhere = gtk_shortcut_new(
            g_object_ref(trigger), gtk_callback_action_new(on_plain_key, view, NULL));
        gtk_shortcut_set_arguments(elsewhere, g_variant_new_string(full));
        gtk_shortcut_controller_add_shortcut(keys->elsewhere, elsewhere);
    }
    g_object_unref(trigger);
    g_free(full);
}

struct keymap keymap_new(void)
{
    return (struct keymap){GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new()),
                           GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new()),
                           GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new())};
}

void keymap_install(struct view *view, const struct keymap *keys)
{
    gtk_widget_add_controller(view->window, GTK_EVENT_CONTROLLER(keys->elsewhere));
    gtk_widget_add_controller(view->window, GTK_EVENT_CONTROLLER(keys->window));
    gtk_widget_add_controller(view->canvas, GTK_EVENT_CONTROLLER(keys->canvas));
}
