/* The run from far away, below the zoom at which marks can be told apart: how each line spent its
 * time, or the order. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_H

#include "clients/viewer/state/request_slot.h"
#include "wire/state_bands.h"

#include <glib.h>

struct view;

struct overview {
    struct request_slot counting;
    struct state_bands strip;
    uint64_t serial; /* of the strip: another one has another */
    struct overview_lines { /* what its rows stand for; count 0: each for its own line */
        uint32_t *lines;
        uint8_t *joined; /* 1: in one row with the line before it */
        uint32_t count;
    } shown, asked;
};

void overview_request(struct view *view);
void overview_clear(struct view *view); /* another run */
/* By line: 1 + the row of the strip that it is in; 0, or beyond the end: none. */
GArray *overview_rows_of_lines(const struct view *view);
void overview_enter(struct view *view); /* from marks: the same at both edges */
void overview_zoom(struct view *view, double factor, double x_px);
void overview_pan(struct view *view, double x_px);
/* Of a row of the strip: its line, or "{T:worker ×4}" of a cluster, as from near; the caller's. */
char *overview_label(struct view *view, uint32_t row);
/* To the marks, at this place. */
void overview_zoom_into_marks(struct view *view, double x_px);
uint64_t overview_position(const struct view *view, double x_px);
double overview_width_px(const struct view *view); /* of the columns */

#endif
