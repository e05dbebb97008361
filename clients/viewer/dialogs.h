/* Dialogs: small ones that ask for input, and those for preferences, opening, running and saving.
 * */
#ifndef CLIENTS_VIEWER_DIALOGS_H
#define CLIENTS_VIEWER_DIALOGS_H

#include <gtk/gtk.h>

struct error;
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
 * false with the reason in *error to reject it: the window stays open and shows the reason. */
void dialog_prompt(struct view *view, const struct dialog_question *question,
                   bool (*answer)(struct view *view, const char *text, struct error *error));
void dialog_close_on_escape(GtkWidget *window);

/* Prompts: dialogs in which the user types one line, a name pattern with an action for all matching
 * lines, a note, or a target to go to. */

/* Groups the matching lines: they become one row. */
void prompt_group_lines(struct view *view);
void prompt_hide_lines(struct view *view);
/* Edits the user's note at the selected event. */
void prompt_note(struct view *view);
void prompt_target(struct view *view);
/* Goes to a typed target, which is an event "2:17", a time "1.5ms", a share of the run "40%", a
 * position "12345" or a note "#3". Returns false with the reason in *error. */
bool prompt_go_to(struct view *view, const char *text, struct error *error);

/* ---- preferences ---- */

void preferences_show(struct view *view);

/* ---- open dialog ---- */

/* Asks for a server. */
void open_dialog_show_connect(struct view *view);
void open_dialog_show_runs(struct view *view);

/* ---- run dialog ---- */

void run_dialog_show(struct view *view);
void run_dialog_edit_measurement(struct view *view);

/* ---- save dialog ---- */

void save_dialog_show(struct view *view);

#endif
