/* Leaps: stretches of the log that the sweep to the right passes over.
 *
 * Along a line columns grow, so once a line has one beyond the window, all its further events are
 * beyond it.  While the next event of every other line is far away, nothing in between can be in
 * the window, and need not be looked at: the window costs what is in it, not what happens while a
 * thread that is in it sleeps.  To the left that cannot be done: what follows an event is not known
 * from the event. */
#ifndef SERVER_ORDER_LAYOUT_SKIP_RANGES_H
#define SERVER_ORDER_LAYOUT_SKIP_RANGES_H

#include "server/order/layout/layout_pass.h"

bool skip_ranges_allowed(const struct layout_params *placing);
void skip_ranges_right(struct layout_job *job, struct layout_pass *sweep,
                       uint64_t looked); /* since the last call */
/* For a window that reaches further than the one that leaps were made for: back to before the
 * first. */
void skip_ranges_undo(struct layout_job *job, struct layout_pass *sweep, int32_t edge);
void skip_ranges_free(struct layout_pass *sweep);

#endif
