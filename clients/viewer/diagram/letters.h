/* The system's text size, which everything drawn follows: its font, and its text scale. */
#ifndef CLIENTS_VIEWER_DIAGRAM_LETTERS_H
#define CLIENTS_VIEWER_DIAGRAM_LETTERS_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* Sets the unit of the camera from the system's settings; returns whether it changed. */
bool letters_update(struct view *view);

/* For widgets next to the canvas that are drawn in its units: scales the drawing, and the available
 * width. */
void letters_scale(const struct view *view, cairo_t *cr, int *width, int *height);
/* Returns a height of such a widget in screen pixels. */
int letters_px(const struct view *view, double px);

#endif
