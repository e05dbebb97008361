/* Jumps to events that may be outside the window. */
#ifndef CLIENTS_VIEWER_DIAGRAM_GO_TO_H
#define CLIENTS_VIEWER_DIAGRAM_GO_TO_H

#include "wire/event_types.h"

struct view;

/* Selects the event, and centers it. position: of the event in the log, or NO_POSITION. */
void go_to_event(struct view *view, struct event_id at, uint64_t position);
void go_to_position(struct view *view, uint64_t position);
void go_to_time(struct view *view, int64_t ns);
/* To a neighbor: scrolls no more than necessary, and only the selection can be undone. */
void go_to_neighbor(struct view *view, struct event_id at, uint64_t position);

#endif
