/* The part of a run between two selected events, as a table is asked about it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_RANGE_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_RANGE_H

#include "wire/table_rows.h"

struct view;

struct call_range {
    struct event_id selected, second; /* when it was asked; line 0: none */
};

/* From one to the other in the order of their times, as near as is known; where there are not two,
 * or they are not in the picture, the whole run. */
void call_range_prepare(struct call_range *range, struct view *view, struct table_request *request);
bool call_range_has_changed(const struct call_range *range, const struct view *view);

#endif
