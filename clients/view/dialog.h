/* Small windows that ask for something. */
#ifndef CLIENTS_VIEW_DIALOG_H
#define CLIENTS_VIEW_DIALOG_H

#include <gtk/gtk.h>

struct view;

/* A dialog that begins in the working directory; name: proposed for a file to be saved, or NULL. */
GtkFileChooser *dialog_chooser(GtkWindow *parent, const char *title, GtkFileChooserAction action,
                               const char *name);
/* Asks for one line of text, which `answer` is given without spaces around it. */
void dialog_ask(struct view *view, const char *title, const char *words, const char *placeholder,
                void (*answer)(struct view *view, const char *text));
void dialog_closes_on_escape(GtkWidget *window);

#endif
