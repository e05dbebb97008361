/* Positions of times and events in the scene, for overlays.
 *
 * Time is interpolated linearly between two marks, also if the scene is placed by order, where that
 * is an approximation. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TIME_AXIS_H
#define CLIENTS_VIEWER_DIAGRAM_TIME_AXIS_H

#include "render/scene.h"
#include "clients/viewer/state/notifications.h"

struct view;
struct time_axis;

/* Returns that of the current scene, valid until the next scene; NULL: none. */
const struct time_axis *time_axis_of(struct view *view);
/* Drops it when there is another scene. */
void time_axis_on_notification(struct view *view, enum notification what);
double time_axis_x_pt(const struct time_axis *axis, int64_t ns); /* clamped to the scene */
int64_t time_axis_ns(const struct time_axis *axis, double x_pt); /* clamped to its marks */
void time_axis_span(const struct time_axis *axis, int64_t *from_ns,
                    int64_t *to_ns); /* of its marks */
const struct scene_mark *time_axis_find_mark(const struct time_axis *axis,
                                             /* returns NULL if it is not in the scene */
                                             struct event_id at);
int time_axis_row_of_line(struct view *view,
                          uint32_t line); /* index of its row in the scene; -1: none */
/* Returns the position on the canvas, along the lines. */
double time_axis_screen_x(struct view *view, double x_pt);
/* Returns the x in the scene of a position on the canvas. */
double time_axis_scene_x(const struct view *view, double x_px);

#endif
