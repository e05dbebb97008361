#include "clients/viewer/window_menu.h"

#include "clients/viewer/action_setup.h"
#include "clients/viewer/diagram/viewer.h"

static GMenu *window_menu_new_section(const char *const *names)
{
    GMenu *menu = g_menu_new();
    for (; *names; names++) {
        char *full = g_strdup_printf("win.%s", *names);
        GMenuItem *item = g_menu_item_new(action_title(*names), full);
        char *key = action_key(*names);
        if (key)
            g_menu_item_set_attribute(item, "accel", "s", key);
        g_menu_append_item(menu, item);
        g_object_unref(item);
        g_free(key);
        g_free(full);
    }
    return menu;
}

void window_menu_update_recent(struct view *view)
{
    g_menu_remove_all(view->recent);
    for (char **r = view->viewer_settings.recent; r && *r; r++) {
        GMenuItem *item = g_menu_item_new(*r, NULL);
        g_menu_item_set_action_and_target(item, "win.recent", "s", *r);
        g_menu_append_item(view->recent, item);
        g_object_unref(item);
    }
}

GMenuModel *window_menu_new(struct view *view)
{
    static const char *const file[] = {"open", "connect", "latest",     "default",
                                       "run",  "measure", "save-trace", NULL},
                             *const out[] = {"save",       "share",     "print",
                                             "copy-image", "copy-text", "copy-command",
                                             "save-view",  "load-view", NULL},
                             *const lines[] = {"seek-rows",
                                               "show-all",
                                               "only-tied",
                                               "least-crossing",
                                               "busy-rows",
                                               "fold",
                                               "cluster-process",
                                               "cluster-kind",
                                               "cluster-name",
                                               "cluster-description",
                                               "cluster-pattern",
                                               "hide-pattern",
                                               NULL},
                             *const look[] = {"follow",     "time",         "relations",
                                              "hide-past",  "hide-future",  "hide-concurrent",
                                              "panel",      "drawer",       "map",
                                              "legend",     "order-arrows", "critical-path",
                                              "tint-waits", "vertical",     "dark",
                                              NULL},
                             *const end[] = {"settings", "shortcuts", "help", "about",
                                             "close",    "quit",      NULL};
    GMenu *menu = g_menu_new(),
          *parts[] = {window_menu_new_section(file), window_menu_new_section(out),
                      window_menu_new_section(lines), window_menu_new_section(look),
                      window_menu_new_section(end)};
    view->recent = g_menu_new();
    window_menu_update_recent(view);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[0]));
    g_menu_append_submenu(menu, "Recent", G_MENU_MODEL(view->recent));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[1]));
    g_menu_append_submenu(menu, "Lines", G_MENU_MODEL(parts[2]));
    g_menu_append_submenu(menu, "View", G_MENU_MODEL(parts[3]));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[4]));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        g_object_unref(parts[i]);
    return G_MENU_MODEL(menu);
}
