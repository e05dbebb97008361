/* Skipped ranges: parts of the log that the pass to the right does not examine.
 *
 * Along a line columns grow, so once a line has an event beyond the window, all its further events
 * are beyond it. While the next event of every other line is far away, nothing in between can be in
 * the window: it is skipped. The cost of a window depends on its contents, not on what happens
 * while one of its threads sleeps. To the left that is impossible: the effects of an event are not
 * known from the event. */
#ifndef SERVER_ORDER_LAYOUT_SKIP_RANGES_H
#define SERVER_ORDER_LAYOUT_SKIP_RANGES_H

#include "server/order/layout/layout_pass.h"

bool skip_ranges_allowed(const struct layout_params *placing);
/* Skips a range if it is time and there is one; `looked`: events examined since the last call. */
void skip_ranges_right(struct layout_job *job, struct layout_pass *pass, uint64_t looked);
/* Returns to the state before the first skipped range, for a window that reaches further than the
 * one for which it was skipped. */
void skip_ranges_undo(struct layout_job *job, struct layout_pass *pass, int32_t edge);
void skip_ranges_free(struct layout_pass *pass);

#endif
