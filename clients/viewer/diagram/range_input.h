/* Selecting a range, with the pointer: dragging over the ruler, or with Shift over rows, which
 * restricts it to their threads; moving its ends; and cursors, by a click on the ruler. */
#ifndef CLIENTS_VIEWER_DIAGRAM_RANGE_INPUT_H
#define CLIENTS_VIEWER_DIAGRAM_RANGE_INPUT_H

#include <stdbool.h>

struct view;

enum range_input_place { RANGE_INPUT_NONE, RANGE_INPUT_RULER, RANGE_INPUT_END };

/* Returns what is at a place of the canvas, along and across the lines. */
enum range_input_place range_input_at(struct view *view, double x_px, double y_px);
/* Begins to drag there; rows: of the rows under it. Returns false if nothing can be dragged. */
bool range_input_press(struct view *view, double x_px, double y_px, bool rows);
void range_input_drag(struct view *view, double x_px, double y_px);
/* Ends it. A click on the ruler places a cursor; second: the second one. */
void range_input_release(struct view *view, double x_px, double y_px, bool second);
/* Selects, without the pointer, the time between the cursors, or from one selected event to the
 * other, otherwise what is visible. */
void range_input_choose(struct view *view);
/* Ends it and restores the range before. Returns false if nothing is dragged. */
bool range_input_cancel(struct view *view);

#endif
