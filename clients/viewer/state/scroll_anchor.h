/* Scroll anchoring: changing the view state such that something keeps its place on the screen, or
 * gets a given one.
 *
 * An anchor takes effect when the requested window has arrived. */
#ifndef CLIENTS_VIEWER_STATE_SCROLL_ANCHOR_H
#define CLIENTS_VIEWER_STATE_SCROLL_ANCHOR_H

#include "clients/viewer/state/viewport.h"

void scroll_anchor_leave_follow(
    struct viewport *camera); /* keeps the view in place as the run grows */
void scroll_anchor_forget_moves(struct view_state *place);   /* of single lines */
/* Makes the event the anchor, near x_px. */
void scroll_anchor_at_event(struct viewport *camera, struct event_id event, double x_px);
/* Centers the event; position: of the event in the log, or NO_POSITION. */
void scroll_anchor_set_event(struct viewport *camera, struct event_id event, uint64_t position);
void scroll_anchor_set_position(struct viewport *camera, uint64_t position);
void scroll_anchor_set_time(struct viewport *camera, int64_t ns);
/* Keeps the selected event, or what is in the middle, in place during the next change of the
 * diagram. */
void scroll_anchor_keep_selected(struct viewport *camera);
/* call when a window has arrived: applies the anchor, follows the end */
void scroll_anchor_settle(struct viewport *camera);

#endif
