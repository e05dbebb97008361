/* Order of the events of one shared line relative to one event.
 *
 * Critical sections of a shared line overlap, so neither the past nor the future there is one
 * range.  But the events of one thread are ordered among themselves: for each thread the past is
 * those up to one event, the future those from one event on.  The events of the thread's own line
 * determine nearly all of it; the few events between are compared. */
#ifndef SERVER_QUERIES_SHARED_LINE_ORDER_H
#define SERVER_QUERIES_SHARED_LINE_ORDER_H

#include "server/run/run.h"
#include "wire/query_results.h"

struct shared_line_order;

/* past and future: of the event at `position`, complete; borrowed. hidden: untraced synchronization
 * may order what is unordered. */
struct shared_line_order *shared_line_order_new(const struct run *run, uint64_t position,
                                                const struct cone *past, const struct cone *future,
                                                bool hidden);
void shared_line_order_free(struct shared_line_order *visits);
void shared_line_order_begin(struct shared_line_order *visits, uint32_t line);
/* Adds relations to `count`; *budget is in events.  Returns true when all of the line is counted.
 */
bool shared_line_order_step(struct shared_line_order *visits, uint64_t *budget,
                            struct relation_counts *count);

#endif
