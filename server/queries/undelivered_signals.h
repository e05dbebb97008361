/* Undelivered signals: the events of a window that wake a waiter, such as a signal of a condition
 * variable, while certainly no thread waited.
 *
 * The target description names their types (`undelivered`); which types they can wake is in
 * `woken_by` of others.  An event is reported only if every wait for the same object had ended
 * before it or began after it, by the order, never by clocks.  Events for which that cannot be
 * determined cheaply are not reported. */
#ifndef SERVER_QUERIES_UNDELIVERED_SIGNALS_H
#define SERVER_QUERIES_UNDELIVERED_SIGNALS_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"

struct undelivered_signals;

/* Begins a search.  The placement is borrowed until the search is freed. */
struct undelivered_signals *undelivered_signals_begin(const struct run *run,
                                                      const struct layout_result *placement);
void undelivered_signals_free(struct undelivered_signals *undelivered);
/* Processes about `budget` events; returns true when it is done. */
bool undelivered_signals_step(struct undelivered_signals *undelivered, uint64_t budget);
/* Returns whether the event at this position is one of them, once done; false if `undelivered` is
 * NULL. */
bool undelivered_signals_has(const struct undelivered_signals *undelivered, uint64_t position);

#endif
