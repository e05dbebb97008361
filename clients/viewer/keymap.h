/* The key map of the window. */
#ifndef CLIENTS_VIEWER_KEYMAP_H
#define CLIENTS_VIEWER_KEYMAP_H

#include <gtk/gtk.h>

struct view;

struct keymap {
    /* elsewhere: plain keys that no widget handled */
    GtkShortcutController *window, *canvas, *elsewhere;
};

struct keymap keymap_new(void);
/* action: "win.NAME"; target: its parameter, or NULL. */
void keymap_add(struct view *view, const struct keymap *keys, const char *key, const char *action,
                GVariant *target);
/* call when all keys are added */
void keymap_install(struct view *view, const struct keymap *keys);

#endif
