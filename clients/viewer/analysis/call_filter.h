/* The filter of a call table: the part of the run between two selected events, and a text in the
 * names of functions. */
#ifndef CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H
#define CLIENTS_VIEWER_ANALYSIS_CALL_FILTER_H

#include "clients/connection/result_table.h"

#include <stdbool.h>

struct view;

/* The events between which a table was requested; line 0: none. */
struct call_filter_range {
    struct event_id selected, second;
};

/* Sets the range from one event to the other in the order of their times, as far as known; without
 * two selected events in the diagram, the whole run. */
void call_filter_set_range(struct call_filter_range *range, struct view *view,
                           struct table_request *request);
bool call_filter_range_has_changed(const struct call_filter_range *range, const struct view *view);

/* Returns, by row, whether its name or that of a row above or below it contains the text, ignoring
 * case; NULL: no filter. Free with g_free(). */
bool *call_filter_rows(const struct result_table *table, const struct table_names *names,
                       const char *text);

#endif
