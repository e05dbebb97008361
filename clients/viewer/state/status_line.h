/* Messages of the window: the status line at its foot, progress display, a banner for problems
 * and offers, and a toast. */
#ifndef CLIENTS_VIEWER_STATE_STATUS_LINE_H
#define CLIENTS_VIEWER_STATE_STATUS_LINE_H

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>

struct status_line {
    /* actions of the buttons, with `user`: set by the window */
    void (*cancel)(void *user);
    void (*again)(void *user); /* retries what failed */
    void (*accept)(void *user); /* accepts the offer */
    void *user;
    /* private */
    GtkWidget *label, *progress, *doing, *busy, *banner, *banner_text, *banner_button;
    guint ticking;
    char *what; /* the action in progress, since then */
    gint64 since_us;
    bool offers; /* the banner's button accepts an offer */
    char *text;  /* text of the line; NULL: none yet */
    uint64_t behind_ns;
};

/* beside: placed between its text and the progress. */
GtkWidget *status_line_line_new(struct status_line *status, GtkWidget *beside);
GtkWidget *status_line_new_banner(struct status_line *status);
void status_line_show(struct status_line *status, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Shows a text as long as a condition holds, unless another text replaces it. */
void status_while(struct status_line *status, bool so, const char *text);
const char *status_line_text(const struct status_line *status); /* that of the line */
/* Shows how far the order is behind the received events: included in the line while it is a second
 * or more. */
void status_line_show_lag(struct status_line *status, uint64_t ns);
void status_line_free(struct status_line *status); /* frees its texts */
/* Shows an error; with a button (NULL: none) to retry. */
void status_line_show_problem(struct status_line *status, const char *button, const char *format,
                              ...) G_GNUC_PRINTF(3, 4);
void status_line_offer(struct status_line *status, const char *button, const char *text);
void status_line_hide_banner(struct status_line *status); /* hides the banner */
/* what: the action in progress; NULL: finished. share: completed part, 0 to 1; less than 0:
 * unknown, so the elapsed time is shown. */
void status_line_show_progress(struct status_line *status, const char *what, double share);

/* ---- toast ---- */

/* A short message over the diagram, with a button, that disappears by itself and covers nothing
 * permanently. */
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
