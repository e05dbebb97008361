/* The states of one thread, beside the table of all: its time per state, a chart of its lifetime,
 * and the list of its state intervals. */
#ifndef CLIENTS_VIEWER_ANALYSIS_STATE_DETAILS_H
#define CLIENTS_VIEWER_ANALYSIS_STATE_DETAILS_H

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

/* Returns the widget, created by the first call; hidden until a thread is shown. */
GtkWidget *state_details_widget(struct view *view);
/* Shows a thread; 0: none, and hides the widget. */
void state_details_show(struct view *view, uint32_t line);
/* If a thread is shown: shows that of the event selected in the diagram, once for each selection,
 * and selects the interval at its time. */
void state_details_follow_selection(struct view *view);
/* Requests its tables again: the run has grown. */
void state_details_refresh(struct view *view);
bool state_details_are_busy(struct view *view);
/* Prints the thread, its states and its intervals, as shown. */
void state_details_print(struct view *view, FILE *f);

#endif
