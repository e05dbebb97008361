/* Zooming, from single marks to the whole run. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ZOOMING_H
#define CLIENTS_VIEWER_DIAGRAM_ZOOMING_H

struct view;

/* Around a point; x -1: the selection. */
void zoom_by(struct view *view, double factor, double x_px, double y_px);
void zoom_fit(struct view *view);   /* the whole run */
void zoom_reset(struct view *view); /* the initial zoom */

#endif
