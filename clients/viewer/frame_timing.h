/* Frame timing for scripts: performs an action once per frame, as a held key does.
 *
 * A frame's time is from the beginning of the frame clock's cycle, in which the action is
 * performed, until everything is laid out and painted; its processor time is reported, too, for a
 * loaded machine. Data from the server is processed between two frames: their distance is the third
 * figure. */
#ifndef CLIENTS_VIEWER_FRAME_TIMING_H
#define CLIENTS_VIEWER_FRAME_TIMING_H

#include <glib.h>
#include <stdbool.h>

struct view;

/* Begins; *running is true until the figures are printed. back: the action for the second half,
 * which reverses the first; or NULL. */
void frame_timing_begin(struct view *view, const char *action, const char *back, int count,
                        bool *running);

#endif
