/* The overview of a run, below the zoom at which marks are distinguishable: how each line spent its
 * time, or the order. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_H

#include "clients/viewer/diagram/idle_end.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/state_bands.h"

#include <glib.h>

struct view;

struct overview {
    struct request_slot counting;
    struct state_bands strip;
    uint64_t serial; /* of the state bands: unique */
    struct overview_lines { /* the lines of its rows; count 0: one line each */
        uint32_t *lines;
        uint8_t *joined; /* 1: in one row with the previous line */
        uint32_t count;
    } shown, asked;
    struct idle_end idle;
};

void overview_request(struct view *view);
void overview_clear(struct view *view); /* another run */
/* Returns, by line, 1 + its row; 0, or beyond the end: none. */
GArray *overview_rows_of_lines(const struct view *view);
void overview_enter(struct view *view); /* from marks: keeps both edges */
void overview_zoom(struct view *view, double factor, double x_px);
void overview_pan(struct view *view, double x_px);
/* Returns the label of a row: that of its line, or "{T:worker ×4}" for a line group; the caller
 * frees it. */
char *overview_label(struct view *view, uint32_t row);
/* Zooms in to marks, at this position. */
void overview_zoom_into_marks(struct view *view, double x_px);
uint64_t overview_position(const struct view *view, double x_px);
double overview_width_px(const struct view *view); /* of the columns */

#endif
