/* The selected range and the cursors in the diagram: what is outside of the range is dimmed, its
 * ends are lines, and the ruler has its times and its length. */
#ifndef CLIENTS_VIEWER_DIAGRAM_RANGE_VIEW_H
#define CLIENTS_VIEWER_DIAGRAM_RANGE_VIEW_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>

struct view;

#define RANGE_VIEW_RULER_PX 18.0 /* height of the ruler, at the top of the canvas */

void range_view_draw(struct view *view, cairo_t *cr, int width_px, int height_px);
/* Gets the places of its ends along the lines; returns false if they are unknown, or there is no
 * range. */
bool range_view_ends(struct view *view, double *from_px, double *to_px);
/* Gets the time at a place along the lines; returns false in an overview by order, where it is not
 * known. */
bool range_view_time(struct view *view, double x_px, int64_t *ns);
/* Shows as much of the run as the range is, or nearly. */
void range_view_zoom(struct view *view);

#endif
