/* Layout of windows by time: the column of an event is its time, on both sides of the anchor.
 *
 * A column is a span of time: column c holds what happened from from_ns + c * column_ns on, for
 * column_ns, and from_ns is a multiple of column_ns, so that the same events share a column for
 * every anchor.  Several events of one line may share one; the viewer draws them side by side.
 *
 * Times that contradict the order are repaired (time_repair.h), considering the drawn events, also
 * outside the window's edges: the window lies between two repaired times and is a closed cut of the
 * order.
 *
 * The time span of a window depends on the events.  It extends from its middle to either side
 * over the requested number of columns, where a long empty span counts as a few, and one with many
 * events as many.  If repairs move events the columns are counted again, and the search
 * continues. */
#ifndef SERVER_QUERIES_TIME_LAYOUT_H
#define SERVER_QUERIES_TIME_LAYOUT_H

#include "server/order/layout/column_assignment.h"
#include "server/queries/visible_rows.h"
#include "server/run/run.h"
#include "wire/request.h"

struct time_layout;

/* Begins a layout.  All arguments must remain valid until it is freed. anchor: position of the
 * event that the window is about, or NO_POSITION if it begins at a time. */
struct time_layout *time_layout_begin(const struct run *run, const struct visible_rows *drawn,
                                      const struct window_request *request, int64_t time_ns,
                                      uint64_t anchor);
bool time_layout_step(struct time_layout *timed, uint64_t budget); /* returns true when done */
/* Once done; the caller frees the result. */
void time_layout_collect(struct time_layout *timed, struct layout_result *placement);
int64_t time_layout_origin(const struct time_layout *timed); /* returns the begin of column 0 */
/* Returns the repaired time, once done. */
int64_t time_layout_time(const struct time_layout *timed, uint64_t position);
/* Returns the latest of the drawn events that is before one of them: see time_repair.h. */
uint64_t time_layout_behind(const struct time_layout *timed, uint64_t position);
void time_layout_free(struct time_layout *timed);

#endif
