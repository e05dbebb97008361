/* Locks that threads take in orders that do not go together: cycles of threads of which each holds
 * what the next one asks for (Havelund 2000; Joshi, Park, Sen and Naik 2009).
 *
 * Left out is what cannot be: where two of them hold a common lock meanwhile, or one is certainly
 * over before another begins (must_happen_before.h).  Who gives up after a time, or where it did
 * not get a lock asks no more, closes no cycle. */
#ifndef SERVER_ANALYSIS_LOCK_ORDER_H
#define SERVER_ANALYSIS_LOCK_ORDER_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct lock_order {
    struct lock_order_thread *threads;
    size_t thread_count, thread_room;
    struct map thread_of; /* line -> 1 + index */
    struct lock_order_edge *edges; /* a lock that is held where another one is asked for */
    size_t edge_count, edge_room;
    struct map edge_of, by_held, tries; /* tries: places that were refused */
    struct map found; /* by their places -> 1 + index of findings */
    size_t start; /* the edge that cycles are looked for from */
    bool ended;
};

void lock_order_feed(struct lock_order *inversions, const struct sync_op *deed);
bool lock_order_step(struct lock_order *inversions, struct findings *findings, uint64_t *budget);
void lock_order_free(struct lock_order *inversions);

#endif
