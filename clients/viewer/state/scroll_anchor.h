/* Changing the place so that something stays where it is on the screen, or comes where it is
 * wanted.
 *
 * A hold is applied when the window that was asked for has come. */
#ifndef CLIENTS_VIEWER_STATE_SCROLL_ANCHOR_H
#define CLIENTS_VIEWER_STATE_SCROLL_ANCHOR_H

#include "clients/viewer/state/viewport.h"

void scroll_anchor_leave_follow(
    struct viewport *camera); /* the place stays where it is as the run grows */
void scroll_anchor_forget_moves(struct view_state *place);   /* of single lines */
/* The event becomes the anchor, near x_px. */
void scroll_anchor_at_event(struct viewport *camera, struct event_id event, double x_px);
/* Holds them in the middle; position: of the event in the log, or NO_POSITION. */
void scroll_anchor_set_event(struct viewport *camera, struct event_id event, uint64_t position);
void scroll_anchor_set_position(struct viewport *camera, uint64_t position);
void scroll_anchor_set_time(struct viewport *camera, int64_t ns);
/* The picture will change around the selected event, or whatever is in the middle. */
void scroll_anchor_keep_selected(struct viewport *camera);
void scroll_anchor_settle(struct viewport *camera); /* a window came: holds, follows, ends */

#endif
