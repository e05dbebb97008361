/* Which events of a window were made to wake somebody, as a signal of a condition, while certainly
 * nobody waited.
 *
 * Their types have words for it (`unheard` of the description); whom they may wake says `woken_by`
 * of others.  It is claimed of an event only if every wait about the same object is known to have
 * been over before it, or to have begun after it: by the order, never by clocks.  What cannot be
 * found out cheaply is not claimed. */
#ifndef SERVER_QUERIES_UNDELIVERED_SIGNALS_H
#define SERVER_QUERIES_UNDELIVERED_SIGNALS_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"

struct undelivered_signals;

/* The placement is borrowed until it is freed. */
struct undelivered_signals *undelivered_signals_begin(const struct run *run,
                                                      const struct layout_result *placement);
void undelivered_signals_free(struct undelivered_signals *unheard);
/* Goes on for about `budget` events; true when it is done. */
bool undelivered_signals_step(struct undelivered_signals *unheard, uint64_t budget);
/* Once it is done: is the event at this position one of them?  NULL has none. */
bool undelivered_signals_has(const struct undelivered_signals *unheard, uint64_t position);

#endif
