/* One lock, beside the table of all: which threads held it and waited for it along time, as a chart
 * with a row for each thread, and the list of its holds. */
#ifndef CLIENTS_VIEWER_ANALYSIS_LOCK_DETAILS_H
#define CLIENTS_VIEWER_ANALYSIS_LOCK_DETAILS_H

#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

/* Returns the widget, created by the first call; hidden until a lock is shown. */
GtkWidget *lock_details_widget(struct view *view);
/* Shows a lock by its line; 0: none, and hides the widget. */
void lock_details_show(struct view *view, uint32_t line);
/* Requests its tables again: the run has grown, or the range has changed. */
void lock_details_refresh(struct view *view);
bool lock_details_are_busy(struct view *view);
/* Prints the title, how long each row of the chart holds and waits, and the list. */
void lock_details_print(struct view *view, FILE *f);

#endif
