/* Which lines are asked for, in which order, and which of them as one row.
 *
 * Until somebody arranges them a place has no rows of its own: all that are drawn come as they
 * stand. */
#ifndef CLIENTS_VIEWER_DIAGRAM_ROW_REQUESTS_H
#define CLIENTS_VIEWER_DIAGRAM_ROW_REQUESTS_H

#include "clients/connection/view_state.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

struct view;

#define ROWS_AT_ONCE 256u /* more lines are asked for in parts */

/* Of very many lines, until they are arranged, those have rows that have events in the window. */
bool row_requests_by_events(const struct view *view);
void row_requests_on_window(struct view *view,
                            const struct window_info *window); /* it is to be shown */
void row_requests_for_request(struct view *view, struct window_request *request);
/* As for a window, but those that are shown where otherwise all were meant.  False: none are. */
bool row_requests_for_density(struct view *view, struct window_request *request);

/* All that have a row until somebody arranges them, in their order: freed by the caller, with
 * g_free(). */
uint32_t *row_requests_all(struct view *view, uint32_t *count);

/* Before and after a change of rows: the place gets rows of its own, and it can be undone. */
void row_requests_begin(struct view *view, const char *what);
void row_requests_done(struct view *view);

/* Of a place that has rows: the index of a line, row_count if it is not among them; the first of
 * the rows that are one with row i, and the one behind the last of them. */
uint32_t row_requests_index(const struct view_state *place, uint32_t line);
bool row_requests_is_pinned(const struct view_state *place, uint32_t line);
uint32_t row_requests_first(const struct view_state *place, uint32_t i);
uint32_t row_requests_end(const struct view_state *place, uint32_t i);
/* Moves the rows first .. end - 1 to before `to`. */
void row_requests_move(struct view_state *place, uint32_t first, uint32_t end, uint32_t to);

#endif
