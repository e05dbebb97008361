/* Closed lines: the sweep has not reached their next event, but a causal chain leads from it to
 * swept events whose columns are beyond the window already.
 *
 * Columns grow away from the cut along every chain, so that all that is still to come of such a
 * line is beyond the window, too, and the sweep need not go as far.  A window then costs what is
 * in it, not how long the laziest of its lines rests.  The search for such a chain takes a few
 * steps at most; if it finds none, the sweep continues without it. */
#ifndef SERVER_ORDER_LAYOUT_CLOSED_LINES_H
#define SERVER_ORDER_LAYOUT_CLOSED_LINES_H

#include "server/order/layout/layout_pass.h"

/* For a window wanted from here on: all are shut but those that are opened then. */
void closed_lines_begin(struct layout_job *job, struct layout_pass *sweep);
void closed_lines_open(struct layout_pass *sweep, uint32_t line);

/* Tries now and then, or all of them at once; `looked` events since the last call. */
void closed_lines_left(struct layout_job *job, uint64_t looked, bool all);
void closed_lines_right(struct layout_job *job, uint64_t looked, bool all);
void closed_lines_free(struct closed_lines *shut);

/* The line gets no event in the window any more. */
static inline void closed_lines_close(struct layout_pass *sweep, uint32_t line)
{
    sweep->open -= sweep->shut.open[line - 1];
    sweep->shut.open[line - 1] = false;
}

#endif
