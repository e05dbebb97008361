/* Changing the place so that something stays where it is on the screen, or comes where it is
 * wanted.
 *
 * A hold is applied when the window that was asked for has come. */
#ifndef CLIENTS_VIEW_PARTS_HOLD_H
#define CLIENTS_VIEW_PARTS_HOLD_H

#include "clients/view/parts/camera.h"

void hold_leave_follow(struct camera *camera); /* the place stays where it is as the run grows */
void hold_forget_moves(struct place *place);   /* of single lines */
/* The event becomes the anchor, near x_px. */
void hold_anchor(struct camera *camera, struct ref event, double x_px);
/* Holds them in the middle; position: of the event in the log, or NO_POSITION. */
void hold_event(struct camera *camera, struct ref event, uint64_t position);
void hold_position(struct camera *camera, uint64_t position);
void hold_time(struct camera *camera, int64_t ns);
/* The picture will change around the selected event, or whatever is in the middle. */
void hold_keep_selected(struct camera *camera);
void hold_settle(struct camera *camera); /* a window came: holds, follows, ends */

#endif
