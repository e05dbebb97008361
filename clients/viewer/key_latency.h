/* Measuring a key for a script, from its press to what it shows.
 *
 * A press has two figures.  Its first frame is the first one in which the event is seen that is
 * selected then, though the server may still look for more of the picture; the whole picture is
 * there when all of it has come.  Both end with the drawing. */
#ifndef CLIENTS_VIEWER_KEY_LATENCY_H
#define CLIENTS_VIEWER_KEY_LATENCY_H

#include "wire/event_id.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* An action again and again.  Zeroed: none is under way. */
struct key_latency {
    struct view *view;
    char *action; /* ours; NULL: none is under way */
    int left;
    GArray *times, *firsts; /* ms until the whole picture; until the first frame */
    /* of this press */
    gint64 begun_us; /* 0: there is none */
    bool seen; /* its first frame was drawn */
    struct event_id from; /* what was selected before it */
    bool selects; /* the action selects another event, as long as there is one */
    bool resting; /* until GTK has drawn the last picture, as for one who looks at it */
    gulong painted;
};

void key_latency_begin(struct key_latency *presses, struct view *view, const char *action,
                       int count);
/* To be called in every turn while presses->action is set; at the end prints both figures. */
void key_latency_step(struct key_latency *presses);

#endif
