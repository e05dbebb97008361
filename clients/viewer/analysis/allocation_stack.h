/* The call stack of the selected row of the heap table, beside it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ALLOCATION_STACK_H
#define CLIENTS_VIEWER_ANALYSIS_ALLOCATION_STACK_H

#include "clients/connection/result_table.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

/* Returns the widget, created by the first call; hidden unless there is a stack. */
GtkWidget *allocation_stack_widget(struct view *view);
/* Shows the stack of a row; -1: none. */
void allocation_stack_show(struct view *view, const struct result_table *table, int row);
/* Prints a line for each frame, the innermost first. */
void allocation_stack_print(struct view *view, FILE *f);

#endif
