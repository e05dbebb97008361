/* By order or by time: the scale at the foot of the window. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TIME_SCALE_H
#define CLIENTS_VIEWER_DIAGRAM_TIME_SCALE_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

struct time_scale {
    GtkWidget *scale, *label;
    double before; /* the scale that was chosen last */
    bool moving;   /* we set it ourselves */
};

GtkWidget *time_scale_new(struct view *view);
/* scale: the logarithm, to the base 10, of the nanoseconds to a column; 0: by order. */
void time_scale_set(struct view *view, double scale);
void time_scale_show(struct view *view); /* the place's */

#endif
