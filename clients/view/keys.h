/* Which keys do what, and where they come from. */
#ifndef CLIENTS_VIEW_KEYS_H
#define CLIENTS_VIEW_KEYS_H

#include <gtk/gtk.h>

struct view;

struct keys {
    GtkShortcutController *window, *canvas, *elsewhere; /* elsewhere: plain keys that nobody took */
};

struct keys keys_new(void);
/* action: "win.NAME"; target: of it, or NULL. */
void keys_add(struct view *view, const struct keys *keys, const char *key, const char *action,
              GVariant *target);
void keys_install(struct view *view, const struct keys *keys); /* when all are added */

#endif
