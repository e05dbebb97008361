/* Where in the scene a time is, and an event: for what is drawn over it.
 *
 * Between two marks time is spread evenly; by order, too, where that is as good as it gets. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TIME_AXIS_H
#define CLIENTS_VIEWER_DIAGRAM_TIME_AXIS_H

#include "render/scene.h"

struct view;
struct time_axis;

/* Of the scene that is here; NULL: there is none.  Until the next scene. */
const struct time_axis *time_axis_of(struct view *view);
void time_axis_invalidate(struct view *view); /* there is another scene */
double time_axis_x_pt(const struct time_axis *axis,
                      int64_t ns); /* no further than the scene's ends */
void time_axis_span(const struct time_axis *axis, int64_t *from_ns,
                    int64_t *to_ns); /* of its marks */
const struct scene_mark *time_axis_find_mark(const struct time_axis *axis,
                                             struct event_id at); /* NULL: it is not here */
int time_axis_row_of_line(struct view *view,
                          uint32_t line); /* index of its row in the scene; -1: none */
/* On the canvas, along the lines. */
double time_axis_screen_x(struct view *view, double x_pt);

#endif
