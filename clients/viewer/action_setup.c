/* Setup of all actions of the window and of their keys, from the table of actions.h. */
#include "clients/viewer/actions.h"

#include "clients/viewer/action_arguments.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/focus_return.h"
#include "clients/viewer/state/history.h"

#include <string.h>

/* ---- key map of the window ---- */

struct keymap {
    /* elsewhere: plain keys that no widget handled */
    GtkShortcutController *window, *canvas, *elsewhere;
};

static bool keymap_has_modifier(const char *key)
{
    return g_str_has_prefix(key, "<Control>") || g_str_has_prefix(key, "<Alt>") ||
           (key[0] == 'F' && g_ascii_isdigit(key[1])) || g_str_has_prefix(key, "<Shift>F");
}

/* Activates the action of a plain key: "win.NAME" or "win.NAME::TARGET". */
static gboolean keymap_on_plain_key(GtkWidget *widget, GVariant *target, gpointer data)
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
 * Ctrl+C copies its selection. action: "win.NAME"; target: its parameter, or NULL. */
static void keymap_add(struct view *view, const struct keymap *keys, const char *key,
                       const char *action, GVariant *target)
{
    GtkShortcutTrigger *trigger = gtk_shortcut_trigger_parse_string(key);
    if (!trigger) {
        g_warning("no such key: %s", key);
        return;
    }
    GtkShortcut *shortcut = gtk_shortcut_new(g_object_ref(trigger), gtk_named_action_new(action));
    if (target)
        gtk_shortcut_set_arguments(shortcut, target);
    gtk_shortcut_controller_add_shortcut(keymap_has_modifier(key) ? keys->window : keys->canvas,
                                         shortcut);
    char *full = target ? g_strdup_printf("%s::%s", action, g_variant_get_string(target, NULL))
                        : g_strdup(action);
    if (!keymap_has_modifier(key)) {
        GtkShortcut *elsewhere = gtk_shortcut_new(
            g_object_ref(trigger), gtk_callback_action_new(keymap_on_plain_key, view, NULL));
        gtk_shortcut_set_arguments(elsewhere, g_variant_new_string(full));
        gtk_shortcut_controller_add_shortcut(keys->elsewhere, elsewhere);
    }
    g_object_unref(trigger);
    g_free(full);
}

static struct keymap keymap_new(void)
{
    return (struct keymap){GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new()),
                           GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new()),
                           GTK_SHORTCUT_CONTROLLER(gtk_shortcut_controller_new())};
}

static void keymap_install(struct view *view, const struct keymap *keys)
{
    gtk_widget_add_controller(view->window, GTK_EVENT_CONTROLLER(keys->elsewhere));
    gtk_widget_add_controller(view->window, GTK_EVENT_CONTROLLER(keys->window));
    gtk_widget_add_controller(view->canvas, GTK_EVENT_CONTROLLER(keys->canvas));
}

/* ---- actions ---- */

static void actions_on_action(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    struct view *view = data;
    const char *name = g_action_get_name(G_ACTION(action));
    (void)parameter;
    for (size_t i = 0; i < action_table_size; i++)
        if (g_strcmp0(action_table[i].name, name) == 0)
            action_table[i].perform(view);
    actions_update(view);
    focus_return_to_diagram(view);
}

/* ---- installation ---- */

void actions_update(struct view *view)
{
    for (size_t i = 0; i < action_table_size; i++) {
        GAction *action =
            g_action_map_lookup_action(G_ACTION_MAP(view->window), action_table[i].name);
        if (action && action_table[i].state)
            g_simple_action_set_state(G_SIMPLE_ACTION(action),
                                      g_variant_new_boolean(action_table[i].state(view)));
    }
    GAction *undo = g_action_map_lookup_action(G_ACTION_MAP(view->window), "undo"),
            *redo = g_action_map_lookup_action(G_ACTION_MAP(view->window), "redo");
    GAction *follow = g_action_map_lookup_action(G_ACTION_MAP(view->window), "follow");
    if (follow)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(follow), actions_run_is_live(view));
    if (undo)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(undo), view->history.back_count > 0);
    if (redo)
        g_simple_action_set_enabled(G_SIMPLE_ACTION(redo), view->history.forth_count > 0);
}

static void actions_on_notification(struct view *view, enum notification what)
{
    (void)what;
    actions_update(view);
}

void actions_install(struct view *view)
{
    struct keymap all = keymap_new();
    for (size_t i = 0; i < action_table_size; i++) {
        const struct action *a = &action_table[i];
        GSimpleAction *action =
            a->state
                ? g_simple_action_new_stateful(a->name, NULL, g_variant_new_boolean(a->state(view)))
                : g_simple_action_new(a->name, NULL);
        g_signal_connect(action, "activate", G_CALLBACK(actions_on_action), view);
        g_action_map_add_action(G_ACTION_MAP(view->window), G_ACTION(action));
        g_object_unref(action);
        char **keys = g_strsplit(a->keys, " ", -1), *full = g_strdup_printf("win.%s", a->name);
        for (char **key = keys; *key; key++)
            if (**key)
                keymap_add(view, &all, *key, full, NULL);
        g_strfreev(keys);
        g_free(full);
    }
    action_arguments_install(view);
    for (size_t i = 0; i < line_key_count; i++)
        keymap_add(view, &all, line_keys[i].key, line_keys[i].action, g_variant_new_string("0"));
    keymap_install(view, &all);
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_ACTIONS) | NOTIFY_BIT(NOTIFY_SETTINGS),
                     actions_on_notification);
}

const char *action_title(const char *name)
{
    for (size_t i = 0; i < action_table_size; i++)
        if (g_strcmp0(action_table[i].name, name) == 0)
            return action_table[i].title;
    return NULL;
}

char *action_key(const char *name)
{
    for (size_t i = 0; i < action_table_size; i++)
        if (g_strcmp0(action_table[i].name, name) == 0 && *action_table[i].keys)
            return g_strndup(action_table[i].keys, strcspn(action_table[i].keys, " "));
    return NULL;
}
