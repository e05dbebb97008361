/* Small windows that ask for something. */
#ifndef CLIENTS_VIEWER_DIALOGS_H
#define CLIENTS_VIEWER_DIALOGS_H

#include <gtk/gtk.h>

struct view;

/* A window of that title over the viewer's, closed by Escape. */
GtkWidget *dialog_new(struct view *view, const char *title);

/* What of a dialog scrolls where the screen is not high enough; its buttons stay below it. */
GtkWidget *dialog_scrolled(GtkWidget *content);

struct dialog_question {
    const char *title, *words;
    const char *placeholder; /* NULL: none */
    const char *text; /* what stands there at first, selected; NULL: nothing */
    const char *button; /* what is done with it, with a mnemonic */
};

/* Asks for one line of text, which `answer` is given without spaces around it.  It gives NULL when
 * that was good; else what is wrong with it, to be freed: the window stays, and says so. */
void dialog_prompt(struct view *view, const struct dialog_question *question,
                   char *(*answer)(struct view *view, const char *text));
void dialog_close_on_escape(GtkWidget *window);

#endif
