/* How the events of one shared line stand to one event.
 *
 * Visits of a shared line overlap, so neither its past nor its future there is one stretch.  But
 * the events of one thread are ordered among themselves: of each thread the past is those up to one
 * of them, the future those from one of them on.  What a thread did on its own line says nearly all
 * of it; the few events between are compared. */
#ifndef SERVER_QUERIES_SHARED_LINE_ORDER_H
#define SERVER_QUERIES_SHARED_LINE_ORDER_H

#include "server/run/run.h"
#include "wire/query_results.h"

struct shared_line_order;

/* past and future: of the event at `position`, done; borrowed.  hidden: something that nobody saw
 * may order what is not ordered. */
struct shared_line_order *shared_line_order_new(const struct run *run, uint64_t position,
                                                const struct cone *past, const struct cone *future,
                                                bool hidden);
void shared_line_order_free(struct shared_line_order *visits);
void shared_line_order_begin(struct shared_line_order *visits, uint32_t line);
/* Adds what it finds out to `count`; *budget is in events.  True when all of the line is
 * counted. */
bool shared_line_order_step(struct shared_line_order *visits, uint64_t *budget,
                            struct relation_counts *count);

#endif
