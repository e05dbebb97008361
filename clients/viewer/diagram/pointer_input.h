/* Pointer input on the diagram: scrolling, zooming, selecting, dragging, the context menu of an
 * event or of a line, and tooltips. */
#ifndef CLIENTS_VIEWER_DIAGRAM_POINTER_INPUT_H
#define CLIENTS_VIEWER_DIAGRAM_POINTER_INPUT_H

#include <gtk/gtk.h>
#include <stdint.h>

struct view;

struct pointer_input {
    double x, y; /* along and across the lines, in pixels; -1: outside */
    struct pointer_drag {
        enum { DRAG_NOTHING, DRAG_DIAGRAM, DRAG_NAMES, DRAG_ROW, DRAG_RANGE } what;
        double x, y;
        uint32_t line; /* of the row */
    } drag;
    double pressed_px; /* along, where the drag began */
};

void pointer_input_watch(struct view *view, GtkWidget *canvas);

#endif
