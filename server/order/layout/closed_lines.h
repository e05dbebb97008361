/* Closed lines: the pass has not reached their next event, but a causal chain leads from it to
 * placed events in columns beyond the window already.
 *
 * Columns grow away from the cut along every chain, so the rest of such a line is beyond the
 * window, too, and the pass need not reach it. The cost of a window depends on its contents, not on
 * how long its most idle line rests. The search for such a chain takes only a few steps; if it
 * finds none, the pass continues without it. */
#ifndef SERVER_ORDER_LAYOUT_CLOSED_LINES_H
#define SERVER_ORDER_LAYOUT_CLOSED_LINES_H

#include "server/order/layout/layout_pass.h"

/* Begins a new window: closes all lines but those that are opened afterwards. */
void closed_lines_begin(struct layout_job *job, struct layout_pass *pass);
void closed_lines_open(struct layout_pass *pass, uint32_t line);

/* Tries to close open lines, now and then or `all` at once; `looked`: events examined since the
 * last call. */
void closed_lines_left(struct layout_job *job, uint64_t looked, bool all);
void closed_lines_right(struct layout_job *job, uint64_t looked, bool all);
void closed_lines_free(struct closed_lines *shut);

/* Closes a line: it gets no more events in the window. */
static inline void closed_lines_close(struct layout_pass *pass, uint32_t line)
{
    pass->open -= pass->shut.open[line - 1];
    pass->shut.open[line - 1] = false;
}

#endif
