/* Attribution of waits: for each wait interval, what ran meanwhile and what delayed the awaited
 * thread.
 *
 * For a wait interval x..y of thread p waiting for thread q:
 *   overlap   what ran from x to y, in q or in the threads that q waited for
 *   reasons   contention: the overlap, as q could not have arrived earlier
 *             rendezvous: the expanded path of q from T to y, minus that of p from T to x, where
 *             T is the last synchronization of both
 * Both add up to the length of the wait interval, to the nanosecond.  Single reasons may be
 * negative: p did more of it.
 *
 * Works in steps, wait by wait in their order; results do not change as the run grows.  Not
 * thread-safe. */
#ifndef SERVER_ANALYSIS_WAIT_ATTRIBUTION_H
#define SERVER_ANALYSIS_WAIT_ATTRIBUTION_H

#include "server/analysis/last_synchronization.h"
#include "server/analysis/path_difference.h"

/* From where on the histories of both threads are compared. */
enum attribution_since {
    SINCE_CLASS, /* according to the class of the wait interval */
    SINCE_WAIT, /* always from the wait's begin */
    SINCE_LAST_SYNC, /* always from the last synchronization */
};

/* Zero-initialize it except `since` and paths.all. */
struct wait_attribution {
    enum attribution_since since;
    struct path_difference paths;
    struct last_sync_index encounters;
    size_t done; /* waits that are explained */
    struct accumulator theirs, mine, stepped; /* scratch */
    struct path_share *shares, *sorting; /* scratch */
    size_t share_room, sorting_room;
};

/* Visits about `budget` intervals.  Returns true when all waits that exist now are explained. */
bool wait_attribution_step(struct wait_attribution *why, uint64_t budget);

/* Returns whether a wait interval is compared from the last synchronization on; the next function
 * returns that synchronization. */
bool wait_attribution_by_sync(const struct wait_attribution *why, uint32_t segment);
struct last_sync wait_attribution_since(const struct wait_attribution *why, uint32_t segment);
/* Read the overlap and the reasons of an explained wait interval, sorted by code segment, then by
 * thread. */
static inline struct list_pool_reader wait_attribution_overlap(const struct wait_attribution *why,
                                                               uint32_t segment)
{
    return list_pool_open(&why->paths.bag, why->paths.lists[PATH_OVERLAP][segment]);
}
static inline struct list_pool_reader wait_attribution_reasons(const struct wait_attribution *why,
                                                               uint32_t segment)
{
    return list_pool_open(&why->paths.bag, why->paths.lists[PATH_EXPANDED][segment]);
}
static inline struct segment_id wait_attribution_pair(const struct wait_attribution *why,
                                                      uint32_t pair)
{
    return why->paths.pairs.items[pair];
}

/* Adds the two paths of an explained wait interval, of the awaited thread and of the waiter, to two
 * accumulators indexed by `pairs`. */
void wait_attribution_paths(struct wait_attribution *why, uint32_t segment,
                            struct accumulator *theirs, struct accumulator *mine);
/* Frees the memory and empties it, except paths.all. */
void wait_attribution_free(struct wait_attribution *why);

#endif
