/* Steps from the selected event to another one: along its line, across lines, along the order,
 * along the log. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EVENT_STEPS_H
#define CLIENTS_VIEWER_DIAGRAM_EVENT_STEPS_H

#include "clients/viewer/state/request_slot.h"

struct view;

struct event_step {
    struct request_slot asked;
};

void event_step_along(struct view *view, int step); /* its line */
void event_step_across(struct view *view, int rows); /* to the neighboring line */
void event_step_partner(struct view *view);
void event_step_to(struct view *view, enum neighbor_step step);
/* Along the log, on visible lines. */
void event_step_recorded(struct view *view, int step);
/* also into line groups, which it opens */
void event_step_recorded_into(struct view *view, int step);

#endif
