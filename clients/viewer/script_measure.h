/* Measurements for scripts: drawing times, delays of GTK's main loop, and memory, which are
 * printed. */
#ifndef CLIENTS_VIEWER_SCRIPT_MEASURE_H
#define CLIENTS_VIEWER_SCRIPT_MEASURE_H

#include <glib.h>
#include <stdbool.h>

struct view;

/* draws the diagram, and the bands below it, once, off-screen */
void script_measure_draw(struct view *view);
/* Draws count times; how: "full": a new diagram each time; otherwise: the same one, scrolled. */
void script_measure_frames(struct view *view, const char *how, int count);
/* Prints the median and the maximum of times (double, ms), and sorts them; prints nothing if
 * empty. */
void script_measure_report(const char *what, GArray *times);
/* Measures how long the main loop was blocked; *watching is true until the result is printed. */
void script_measure_watch(double seconds, bool *watching);
/* Measures the time from each event until it was in a frame, for events with an annotation "at NS",
 * of CLOCK_MONOTONIC of this host. */
void script_measure_event_latency(struct view *view, double seconds, bool *watching);
void script_measure_memory(void); /* peak memory of the viewer */

#endif
