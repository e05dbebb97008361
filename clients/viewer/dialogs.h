/* Small dialogs that ask for input. */
#ifndef CLIENTS_VIEWER_DIALOGS_H
#define CLIENTS_VIEWER_DIALOGS_H

#include <gtk/gtk.h>

struct view;

/* Returns a new window with that title over the viewer's, which Escape closes. */
GtkWidget *dialog_new(struct view *view, const char *title);

/* Returns the content of a dialog in a scroller, for small screens; the buttons stay below it. */
GtkWidget *dialog_scrolled(GtkWidget *content);

struct dialog_question {
    const char *title, *words;
    const char *placeholder; /* NULL: none */
    const char *text; /* initial text, selected; NULL: empty */
    const char *button; /* label of the button, with a mnemonic */
};

/* Asks for one line of text, which is passed to `answer` without surrounding spaces. It returns
 * NULL to accept it; else an error message, which is freed: the window stays open and shows it. */
void dialog_prompt(struct view *view, const struct dialog_question *question,
                   char *(*answer)(struct view *view, const char *text));
void dialog_close_on_escape(GtkWidget *window);

#endif
