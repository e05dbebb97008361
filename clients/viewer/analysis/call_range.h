/* The part of a run between two selected events, as the range of a table. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_RANGE_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_RANGE_H

#include "wire/table_rows.h"

struct view;

struct call_range {
    struct event_id selected, second; /* at the time of the request; line 0: none */
};

/* Sets the range from one event to the other in the order of their times, as far as known; without
 * two selected events in the diagram, the whole run. */
void call_range_prepare(struct call_range *range, struct view *view, struct table_request *request);
bool call_range_has_changed(const struct call_range *range, const struct view *view);

#endif
