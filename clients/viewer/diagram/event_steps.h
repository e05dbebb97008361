/* From the selected event to another one: along its line, across, along the order, along the
 * recording. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EVENT_STEPS_H
#define CLIENTS_VIEWER_DIAGRAM_EVENT_STEPS_H

#include "clients/viewer/state/request_slot.h"

struct view;

struct event_step {
    struct request_slot asked;
};

void event_step_along(struct view *view, int step); /* its line */
void event_step_across(struct view *view, int rows); /* to the neighbouring line */
void event_step_partner(struct view *view);
void event_step_to(struct view *view, enum neighbor_step step);
/* Along the recorded order, on lines that are shown. */
void event_step_recorded(struct view *view, int step);
void event_step_recorded_into(struct view *view, int step); /* into clusters, too: opens them */

#endif
