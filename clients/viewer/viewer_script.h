/* Scripts (poet view --script FILE): the commands in a file are executed, for tests, measurements
 * and demonstrations. */
#ifndef CLIENTS_VIEWER_VIEWER_SCRIPT_H
#define CLIENTS_VIEWER_VIEWER_SCRIPT_H

#include "wire/event_types.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

void viewer_script_run(struct view *view, const char *file);

/* ---- script measure ---- */

/* Draws count times; how: "full": a new diagram each time; otherwise: the same one, scrolled. */
void script_measure_frames(struct view *view, const char *how, int count);
/* Measures how long the main loop was blocked; *watching is true until the result is printed. */
void script_measure_watch(double seconds, bool *watching);
/* Prints the peak memory of the viewer. */
void script_measure_memory(void);

/* ---- frame timing: an action is performed once per frame, as a held key does ---- */

/* A frame's time is from the beginning of the frame clock's cycle, in which the action is
 * performed, until everything is laid out and painted; its processor time is reported, too, for a
 * loaded machine. Data from the server is processed between two frames: their distance is the third
 * figure. */

/* Begins; *running is true until the figures are printed. back: the action for the second half,
 * which reverses the first; or NULL. */
void frame_timing_begin(struct view *view, const char *action, const char *back, int count,
                        bool *running);

/* ---- key latency: from a key press to its effect on the screen ---- */

/* A press has two figures. The first frame shows the newly selected event, although the server may
 * still be searching for more of the diagram; the diagram is complete when everything has arrived.
 * Both times include drawing. */

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
    bool resting; /* until GTK has drawn the last diagram, as for a user that looks at it */
    gulong painted;
};

void key_latency_begin(struct key_latency *presses, struct view *view, const char *action,
                       int count);
/* Call in every iteration while presses->action is set; prints both figures at the end. */
void key_latency_step(struct key_latency *presses);

/* ---- script state ---- */

/* Appends a part of the state, one of the list in script_state.c, to a file; "": to standard
 * output. Returns false if there is no part of that name; prints a message if the file cannot be
 * written. */
bool script_state_write(struct view *view, const char *part, const char *file);

#endif
