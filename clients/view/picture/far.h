/* The run from far away, below the zoom at which marks can be told apart: how each line spent its time, or
 * the order. */
#ifndef CLIENTS_VIEW_PICTURE_FAR_H
#define CLIENTS_VIEW_PICTURE_FAR_H

#include "clients/view/parts/inquiry.h"
#include "wire/strip.h"

struct view;

struct far {
    struct inquiry counting;
    struct shown_strip strip;
};

void far_ask(struct view *view);
void far_enter(struct view *view); /* from marks: the same at both edges */
void far_zoom(struct view *view, double factor, double x_px);
void far_pan(struct view *view, double x_px);
/* To the marks, at this place. */
void far_go_in(struct view *view, double x_px);
uint64_t far_position(const struct view *view, double x_px);
double far_width_px(const struct view *view); /* of the columns */

#endif
