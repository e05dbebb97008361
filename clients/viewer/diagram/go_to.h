/* Going to events that may be outside the window: jumps to any event, position or time, and steps
 * from the selected event to another one. */
#ifndef CLIENTS_VIEWER_DIAGRAM_GO_TO_H
#define CLIENTS_VIEWER_DIAGRAM_GO_TO_H

#include "clients/viewer/state/request_slot.h"
#include "wire/event_types.h"

struct view;

/* Selects the event, and centers it. position: of the event in the log, or NO_POSITION. */
void go_to_event(struct view *view, struct event_id at, uint64_t position);
void go_to_position(struct view *view, uint64_t position);
void go_to_time(struct view *view, int64_t ns);

/* ---- steps from the selected event; if none is selected, one in the middle is ---- */

struct event_step {
    struct request_slot asked;
};

/* Steps along its line. */
void event_step_along(struct view *view, int step);
/* Steps to the neighboring line. */
void event_step_across(struct view *view, int rows);
void event_step_partner(struct view *view);
/* Steps along the order. */
void event_step_to(struct view *view, enum neighbor_step step);
/* Goes to the next synchronization point that is drawn, in the order of the log: not to events
 * inside line groups or collapsed repeats. */
void event_step_recorded(struct view *view, int step);
/* Goes to the next event of the log, also into line groups, which it opens. */
void event_step_recorded_into(struct view *view, int step);

#endif
