/* Zooming, from single marks to the whole run. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ZOOMING_H
#define CLIENTS_VIEWER_DIAGRAM_ZOOMING_H

struct view;

/* Around a point; x -1: the selection. */
void zoom_by(struct view *view, double factor, double x_px, double y_px);
void zoom_fit(struct view *view);   /* state bands of the whole run */
/* Shows the whole run in its first view: in marks if they are legible then, else as state bands
 * along time. */
void zoom_show_whole(struct view *view);
void zoom_reset(struct view *view); /* the initial zoom */

#endif
