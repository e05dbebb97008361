/* The scale at the foot of the window: by order or by time. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TIME_SCALE_H
#define CLIENTS_VIEWER_DIAGRAM_TIME_SCALE_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

struct time_scale {
    GtkWidget *scale, *label;
    double before; /* the last scale chosen */
    bool moving;   /* we are setting it */
};

GtkWidget *time_scale_new(struct view *view);
/* scale: the decimal logarithm of the nanoseconds per column; 0: by order. */
void time_scale_set(struct view *view, double scale);
void time_scale_show(struct view *view); /* that of the view state */

#endif
