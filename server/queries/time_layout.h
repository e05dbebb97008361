/* Windows that are placed by time: an event's column is its time, on both sides of the anchor.
 *
 * A column is a stretch of time: column c holds what happened from from_ns + c * column_ns on, for
 * column_ns, and from_ns is a multiple of column_ns, so that the same events share a column
 * wherever the anchor is.  Several events of one line may share one; who draws them puts them side
 * by side.
 *
 * Times that contradict the order are repaired (time_repair.h), by what is drawn, on either side of
 * the window's edges, too: the window is what lies between two repaired times, a closed cut of the
 * order.
 *
 * How much time a window holds depends on what happened: it reaches from its middle to either side
 * over as many columns as were asked for, of which a long empty stretch counts as a few, and one
 * with many events as many.  Where repairs move events, that is counted again after them, and it is
 * looked further. */
#ifndef SERVER_QUERIES_TIME_LAYOUT_H
#define SERVER_QUERIES_TIME_LAYOUT_H

#include "server/queries/visible_rows.h"
#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/request_body.h"

struct time_layout;

/* All it is given must last as long; anchor: position of the event that the window is about, or
 * NO_POSITION: it begins at a time. */
struct time_layout *time_layout_begin(const struct run *run, const struct visible_rows *drawn,
                                      const struct window_request *request, int64_t time_ns,
                                      uint64_t anchor);
bool time_layout_step(struct time_layout *timed, uint64_t budget); /* true: done */
void time_layout_collect(struct time_layout *timed,
                         struct layout_result *placement); /* once done; the caller frees it */
int64_t time_layout_origin(const struct time_layout *timed); /* where column 0 begins */
int64_t time_layout_time(const struct time_layout *timed,
                         uint64_t position); /* repaired, once done */
/* The latest event of those drawn that is before one of them: see time_repair.h. */
uint64_t time_layout_behind(const struct time_layout *timed, uint64_t position);
void time_layout_free(struct time_layout *timed);

#endif
