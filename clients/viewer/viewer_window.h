/* The main window, which creates all parts, connects them, and handles their notifications; its
 * header bar, and its welcome page. */
#ifndef CLIENTS_VIEWER_VIEWER_WINDOW_H
#define CLIENTS_VIEWER_VIEWER_WINDOW_H

#include <gtk/gtk.h>
#include <stdint.h>

struct viewer_start {
    const char *source; /* what to open, NULL: the default endpoint */
    const char *script; /* a file, or NULL */
    int64_t from_ns, to_ns; /* the range of time to show first; to_ns <= from_ns: the whole run */
};

void viewer_window_new(GtkApplication *application, const struct viewer_start *start);

/* ---- header bar ---- */

struct view;

GtkWidget *header_bar_new(struct view *view);
void header_bar_show_titles(struct view *view);
/* Updates the menu: call when the recent sources have changed. */
void window_menu_update_recent(struct view *view);

/* The choice of the run that is shown: by the list of a server's runs, and when a newer one begins.
 *
 * If the view follows the end of its run, a newer run is shown immediately; otherwise it is
 * announced. */

void run_chooser_request(struct view *view); /* requests the list */

void run_chooser_on_begun(struct view *view, const char *name);
void run_chooser_on_shown(struct view *view); /* call when another run is shown */

/* ---- welcome page ---- */

GtkWidget *welcome_page_new(struct view *view);
void welcome_page_show(struct view *view, const char *title, const char *text);
void welcome_page_leave(struct view *view); /* shows the diagram instead */

#endif
