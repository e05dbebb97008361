/* Lock order inversions: cycles of threads of which each holds the lock that the next one requests
 * (Havelund 2000; Joshi, Park, Sen and Naik 2009).
 *
 * Cycles that cannot occur are left out: those in which two of the threads hold a common lock
 * meanwhile, or in which one part must happen before another begins (must_happen_before.h).  A
 * request with a timeout closes no cycle, nor does one at a place where a refused request was not
 * repeated. */
#ifndef SERVER_ANALYSIS_LOCK_ORDER_H
#define SERVER_ANALYSIS_LOCK_ORDER_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct lock_order {
    struct lock_order_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct lock_order_edge *edges; /* a lock that is held while another one is requested */
    size_t edge_count, edge_room;
    struct map edge_of, by_held, tries; /* tries: call sites at which a request was refused */
    struct map found; /* by call sites -> 1 + index of findings */
    size_t start; /* the edge at which the search for cycles begins */
    bool ended;
};

void lock_order_feed(struct lock_order *inversions, const struct sync_op *op);
bool lock_order_step(struct lock_order *inversions, struct findings *findings, uint64_t *budget);
void lock_order_free(struct lock_order *inversions);

#endif
