/* Rows of requests: the lines that are requested, their order, and those that share a row.
 *
 * A view state has no rows of its own until the user arranges them: all drawn lines are shown in
 * default order. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ROW_REQUESTS_H
#define CLIENTS_VIEWER_DIAGRAM_ROW_REQUESTS_H

#include "clients/connection/view_state.h"
#include "wire/layout_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

struct view;

#define ROWS_AT_ONCE 256u /* more lines are requested in parts */

/* With very many lines that are not arranged, only those with events in the window get rows. */
bool row_requests_by_events(const struct view *view);
void row_requests_on_window(struct view *view,
                            const struct window_info *window); /* it is about to be shown */
void row_requests_for_request(struct view *view, struct window_request *request);
/* Fills in a request for this view state, with the visible lines in place of all. The caller frees
 * rows and joined. Returns false, with nothing to be freed, if there are none yet. */
bool row_requests_for_density(struct view *view, struct window_request *request);

/* Returns all lines that have a row by default, in their order; free with g_free(). */
uint32_t *row_requests_all(struct view *view, uint32_t *count);

/* Call before and after a change of rows: the view state gets rows of its own, and the change can
 * be undone. */
void row_requests_begin(struct view *view, const char *what);
void row_requests_done(struct view *view);

/* ---- a view state with rows of its own ---- */

/* Returns the index of a line, row_count if it is not among them. */
uint32_t row_requests_index(const struct view_state *place, uint32_t line);
bool row_requests_is_pinned(const struct view_state *place, uint32_t line);
/* Returns the first of the rows that are displayed as one with row i. */
uint32_t row_requests_first(const struct view_state *place, uint32_t i);
/* Returns the index after the last of these rows. */
uint32_t row_requests_end(const struct view_state *place, uint32_t i);
/* Moves the rows first .. end - 1 to before `to`. */
void row_requests_move(struct view_state *place, uint32_t first, uint32_t end, uint32_t to);

#endif
