/* Key latency for scripts, from a key press to its effect on the screen.
 *
 * A press has two figures. Its first frame is the first one that shows the newly selected event,
 * although the server may still be searching for more of the diagram; the diagram is complete when
 * everything has arrived. Both times include drawing. */
#ifndef CLIENTS_VIEWER_KEY_LATENCY_H
#define CLIENTS_VIEWER_KEY_LATENCY_H

#include "wire/event_id.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* A repeated action. Zeroed: none is in progress. */
struct key_latency {
    struct view *view;
    char *action; /* owned; NULL: none is in progress */
    int left;
    GArray *times, *firsts; /* ms until the complete diagram; until the first frame */
    /* of this press */
    gint64 begun_us; /* 0: none */
    bool seen; /* its first frame was drawn */
    struct event_id from; /* the selected event before it */
    bool selects; /* the action selects another event, as long as there is one */
    bool resting; /* until GTK has drawn the last diagram, as for a user who looks at it */
    gulong painted;
};

void key_latency_begin(struct key_latency *presses, struct view *view, const char *action,
                       int count);
/* Call in every iteration while presses->action is set; prints both figures at the end. */
void key_latency_step(struct key_latency *presses);

#endif
