/* The run from far away, below the zoom at which marks can be told apart: how each line spent its time, or
 * the order. */
#ifndef CLIENTS_VIEW_PICTURE_FAR_H
#define CLIENTS_VIEW_PICTURE_FAR_H

#include "clients/view/parts/inquiry.h"
#include "wire/strip.h"

#include <glib.h>

struct view;

struct far {
    struct inquiry counting;
    struct shown_strip strip;
    uint64_t serial; /* of the strip: another one has another */
    struct far_lines { /* what its rows stand for; count 0: each for its own line */
        uint32_t *lines;
        uint8_t *joined; /* 1: in one row with the line before it */
        uint32_t count;
    } shown, asked;
};

void far_ask(struct view *view);
void far_clear(struct view *view); /* another run */
/* By line: 1 + the row of the strip that it is in; 0, or beyond the end: none. */
GArray *far_rows_of_lines(const struct view *view);
void far_enter(struct view *view); /* from marks: the same at both edges */
void far_zoom(struct view *view, double factor, double x_px);
void far_pan(struct view *view, double x_px);
/* Of a row of the strip: its line, or "{T:worker ×4}" of a cluster, as from near; the caller's. */
char *far_label(struct view *view, uint32_t row);
/* To the marks, at this place. */
void far_go_in(struct view *view, double x_px);
uint64_t far_position(const struct view *view, double x_px);
double far_width_px(const struct view *view); /* of the columns */

#endif
