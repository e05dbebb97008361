/* Which keys do what, and where they come from. */
#ifndef CLIENTS_VIEWER_KEYMAP_H
#define CLIENTS_VIEWER_KEYMAP_H

#include <gtk/gtk.h>

struct view;

struct keymap {
    GtkShortcutController *window, *canvas, *elsewhere; /* elsewhere: plain keys that nobody took */
};

struct keymap keymap_new(void);
/* action: "win.NAME"; target: of it, or NULL. */
void keymap_add(struct view *view, const struct keymap *keys, const char *key, const char *action,
                GVariant *target);
void keymap_install(struct view *view, const struct keymap *keys); /* when all are added */

#endif
