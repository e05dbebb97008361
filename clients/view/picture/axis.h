/* Where in the scene a time is, and an event: for what is drawn over it.
 *
 * Between two marks time is spread evenly; by order, too, where that is as good as it gets. */
#ifndef CLIENTS_VIEW_PICTURE_AXIS_H
#define CLIENTS_VIEW_PICTURE_AXIS_H

#include "render/scene.h"

struct view;
struct axis;

/* Of the scene that is here; NULL: there is none.  Until the next scene. */
const struct axis *axis_of(struct view *view);
void axis_stale(struct view *view); /* there is another scene */
double axis_x_pt(const struct axis *axis, int64_t ns); /* no further than the scene's ends */
void axis_span(const struct axis *axis, int64_t *from_ns, int64_t *to_ns); /* of its marks */
const struct scene_mark *axis_mark(const struct axis *axis,
                                   struct ref at); /* NULL: it is not here */
int axis_row(struct view *view, uint32_t line); /* index of its row in the scene; -1: none */
/* On the canvas, along the lines. */
double axis_screen_x(struct view *view, double x_pt);

#endif
