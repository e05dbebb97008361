/* A toast: a short message over the diagram, with a button, that disappears by itself and covers
 * nothing permanently. */
#ifndef CLIENTS_VIEWER_STATE_TOAST_H
#define CLIENTS_VIEWER_STATE_TOAST_H

#include <gtk/gtk.h>

struct toast {
    /* private */
    GtkWidget *revealer, *label, *button;
    void (*act)(void *user);
    void *user;
    guint timer;
};

/* `under`: what it appears over; the returned widget contains both. */
GtkWidget *toast_new(struct toast *toast, GtkWidget *under);
/* button: label with a mnemonic; it calls `act` with `user`, and the toast disappears. */
void toast_show(struct toast *toast, const char *text, const char *button, void (*act)(void *user),
                void *user);
void toast_hide(struct toast *toast);

#endif
