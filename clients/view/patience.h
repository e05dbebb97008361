/* Whoever waits for more than a second for a picture is told, and may give up. */
#ifndef CLIENTS_VIEW_PATIENCE_H
#define CLIENTS_VIEW_PATIENCE_H

#include <glib.h>
#include <stdbool.h>

struct view;

struct patience {
    guint timer;
    gint64 since_us; /* a picture is waited for; 0: it is not */
    bool out;        /* it was told */
};

void patience_begin(struct view *view); /* with a connection */
void patience_end(struct view *view);
void patience_give_up(struct view *view); /* waits for no picture any more */

#endif
