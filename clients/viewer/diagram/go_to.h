/* To what may be far from here. */
#ifndef CLIENTS_VIEWER_DIAGRAM_GO_TO_H
#define CLIENTS_VIEWER_DIAGRAM_GO_TO_H

#include "wire/event_types.h"

struct view;

/* Selects it, and brings it to the middle.  position: of the event in the log, or NO_POSITION. */
void go_to_event(struct view *view, struct event_id at, uint64_t position);
void go_to_position(struct view *view, uint64_t position);
void go_to_time(struct view *view, int64_t ns);
/* To a neighbour: the picture moves no more than it has to, and nothing is remembered but that
 * it is selected. */
void go_to_neighbor(struct view *view, struct event_id at, uint64_t position);

#endif
