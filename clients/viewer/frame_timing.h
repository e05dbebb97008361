/* Measuring frames for a script: an action once a frame, as by a key that is held down.
 *
 * A frame's time is that from the beginning of GTK's frame clock's turn, in which the action is
 * done, until all is laid out and painted; the processor's share of it is told, too, for a machine
 * that does other work.  What comes from the server is taken in between two frames: how far those
 * are apart is the third figure. */
#ifndef CLIENTS_VIEWER_FRAME_TIMING_H
#define CLIENTS_VIEWER_FRAME_TIMING_H

#include <glib.h>
#include <stdbool.h>

struct view;

/* Begins; *running is true until the figures are printed.  back: the second half goes by this
 * action, back; or NULL. */
void frame_timing_begin(struct view *view, const char *action, const char *back, int count,
                        bool *running);

#endif
