/* The selected range of time, which the tabs of the analysis pane share, and the cursors, from one
 * to the other of which time is measured.
 *
 * Both are part of the view state, so that a change of them can be undone. Without a range, tables
 * are about the whole run. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TIME_RANGE_H
#define CLIENTS_VIEWER_DIAGRAM_TIME_RANGE_H

#include "clients/connection/view_state.h"
#include "clients/viewer/state/notifications.h"
#include "wire/table_rows.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

bool time_range_is_set(const struct view *view);
/* Selects a range, and copies its lines; none if it is not longer than 0. Sends NOTIFY_RANGE. */
void time_range_set(struct view *view, const struct view_state_range *range);
/* Does this without a step of the history: for the changes of one drag, after the first. */
void time_range_set_silently(struct view *view, const struct view_state_range *range);
/* Forgets the range and the cursors. Returns false if there were none. */
bool time_range_clear(struct view *view);
void time_range_all_threads(struct view *view); /* the range is of all threads */
/* These copy a command with "--from TIME --to TIME" to the clipboard: `poet show`, which prints the
 * range; `poet view`, which opens it. */
void time_range_copy(struct view *view);
void time_range_copy_link(struct view *view);

/* Places the first cursor, in place of both, or the second one. */
void time_range_place_cursor(struct view *view, int64_t ns, bool second);
/* Gets the time of an event of the scene; returns false if it is not there. */
bool time_range_event_ns(const struct view *view, struct event_id at, int64_t *ns);
/* Places a cursor at the selected event: the second one if there is one elsewhere. */
void time_range_place_cursor_at_event(struct view *view);

/* Each of these returns a text that the caller frees: "1.5 ms", to the nanosecond; the range with
 * its length ("1.5 ms long") and threads. */
char *time_range_time_text(int64_t ns);
char *time_range_text(struct view *view);

/* Restricts a request to the range, and to its threads unless the request names threads. */
void time_range_limit(const struct view *view, struct table_request *request);
void time_range_limit_threads(const struct view *view, struct table_request *request);

/* Prints "range 0 1000 lines 1 2 cursors 5 9", the commands that are copied, and the text, for
 * tests. */
void time_range_print(struct view *view, FILE *f);

/* The ends of the selected range in an overview by order, where the viewer knows no times:
 * positions of the log are converted to times, and times to positions, by requests to the
 * server. */

/* Selects the range from the event at the first position to that at the last one, as soon as their
 * times are known. range: its threads; copied. */
void range_ends_select(struct view *view, uint64_t first, uint64_t last,
                       const struct view_state_range *range);
/* Gets the positions of the selected range; returns false, and requests them, if they are not known
 * yet. */
bool range_ends_positions(struct view *view, double *first, double *last);
bool range_ends_is_busy(struct view *view); /* whether it awaits a response */
void range_ends_clear(struct view *view); /* another run */

#endif
