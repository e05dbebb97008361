/* What a script measures: how long pictures take, whether GTK's loop is held up, and memory.  All
 * of it is printed. */
#ifndef CLIENTS_VIEWER_SCRIPT_MEASURE_H
#define CLIENTS_VIEWER_SCRIPT_MEASURE_H

#include <glib.h>
#include <stdbool.h>

struct view;

void script_measure_draw(struct view *view); /* the picture, and bands below it, once, to nowhere */
/* Draws count times; how: "full", a new picture each, or anything else: the same one, moved on. */
void script_measure_frames(struct view *view, const char *how, int count);
/* Prints the median and the worst of times (double, ms), and sorts them; nothing of none. */
void script_measure_report(const char *what, GArray *times);
/* How long the loop was held up meanwhile; *watching is true until that is printed. */
void script_measure_watch(double seconds, bool *watching);
/* How long after it happened each event was in a frame that has a text "at NS", of CLOCK_MONOTONIC
 * of this machine. */
void script_measure_event_latency(struct view *view, double seconds, bool *watching);
void script_measure_memory(void); /* the most that the viewer has had */

#endif
