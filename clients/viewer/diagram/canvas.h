/* The canvas: painting the diagram on the screen. The columns are painted once, in tiles; scrolling
 * moves the tiles. */
#ifndef CLIENTS_VIEWER_DIAGRAM_CANVAS_H
#define CLIENTS_VIEWER_DIAGRAM_CANVAS_H

#include "render/scene_paint.h"

#include <gtk/gtk.h>

struct view;

GtkWidget *canvas_new(struct view *view); /* with its scroll bar */
/* Draws as on the screen, in either orientation; width and height are those of its widget. */
void canvas_draw(struct view *view, cairo_t *cr, int width_px, int height_px);
/* Call when the size of its widget, or the unit of the camera changed. */
void canvas_resized(struct view *view, int width_px, int height_px);
struct paint_selection canvas_selection(const struct view *view); /* what is highlighted */

#endif
