/* The system's size of letters, which all that is drawn follows: its font, and the scale of its
 * text. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LETTERS_H
#define CLIENTS_VIEWER_DIAGRAM_LETTERS_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* Sets the unit of the camera by the system's settings; whether it is another one now. */
bool letters_update(struct view *view);

/* For widgets that stand beside the canvas and are drawn in its units: scales what is drawn, and
 * the width that there is. */
void letters_scale(const struct view *view, cairo_t *cr, int *width, int *height);
/* A height of such a widget, on the screen. */
int letters_px(const struct view *view, double px);

#endif
