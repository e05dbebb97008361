/* A word over the picture, with a button, that goes by itself: what has happened elsewhere takes
 * nothing away. */
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

/* `under`: what it appears over; what is returned holds both. */
GtkWidget *toast_new(struct toast *toast, GtkWidget *under);
/* button: with a mnemonic; then `act` is called with `user`, and it goes. */
void toast_show(struct toast *toast, const char *text, const char *button, void (*act)(void *user),
                void *user);
void toast_hide(struct toast *toast);

#endif
