/* What the window says: the line at its foot, how far something long has got, and a banner for
 * trouble and offers. */
#ifndef CLIENTS_VIEWER_STATE_STATUS_LINE_H
#define CLIENTS_VIEWER_STATE_STATUS_LINE_H

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>

struct status_line {
    /* what the buttons do, with `user`: filled by the window */
    void (*cancel)(void *user);
    void (*again)(void *user); /* what was in trouble is tried again */
    void (*accept)(void *user); /* what was offered is taken */
    void *user;
    /* private */
    GtkWidget *label, *progress, *doing, *busy, *banner, *banner_text, *banner_button;
    guint ticking;
    char *what; /* is being done, since then */
    gint64 since_us;
    bool offers; /* the banner's button accepts */
    char *said;  /* in the line; NULL: nothing yet */
    uint64_t behind_ns;
};

/* beside: comes between its text and the progress. */
GtkWidget *status_line_line_new(struct status_line *status, GtkWidget *beside);
GtkWidget *status_line_new_banner(struct status_line *status);
void status_line_show(struct status_line *status, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* What is said as long as something is so, unless something else is said meanwhile. */
void status_while(struct status_line *status, bool so, const char *text);
const char *status_line_text(const struct status_line *status); /* the line's */
/* How far the order is behind what programs have told: it stands in the line, too, while it is a
 * second or more. */
void status_line_show_lag(struct status_line *status, uint64_t ns);
void status_line_free(struct status_line *status); /* frees what it said */
/* Something went wrong; with a button, NULL none, it can be tried again. */
void status_line_show_problem(struct status_line *status, const char *button, const char *format,
                              ...) G_GNUC_PRINTF(3, 4);
void status_line_offer(struct status_line *status, const char *button, const char *text);
void status_line_hide_banner(struct status_line *status); /* takes the banner away */
/* what: is being done; NULL: it is over.  share: of it, from 0 to 1; less than 0: nobody knows
 * how long it takes, so it says how long it takes already. */
void status_line_show_progress(struct status_line *status, const char *what, double share);

#endif
