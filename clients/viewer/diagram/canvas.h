/* Painting the picture on the screen.  The columns are painted once, in tiles; to scroll is to
 * put the tiles elsewhere. */
#ifndef CLIENTS_VIEWER_DIAGRAM_CANVAS_H
#define CLIENTS_VIEWER_DIAGRAM_CANVAS_H

#include "render/scene_paint.h"

#include <gtk/gtk.h>

struct view;

GtkWidget *canvas_new(struct view *view); /* with its scroll bar */
/* As it is on the screen, whichever way the lines run; width and height are those of its widget. */
void canvas_draw(struct view *view, cairo_t *cr, int width_px, int height_px);
/* Its widget has another size, or the unit of the camera changed. */
void canvas_resized(struct view *view, int width_px, int height_px);
struct paint_selection canvas_selection(const struct view *view); /* what stands out */

#endif
