/* Why waits took so long: for each segment of a wait, what ran meanwhile, and what made the other
 * come later.
 *
 * Of a segment x..y of a wait of p for q:
 *     overlap   what ran from x to y, in q or whom q waited for
 *     reasons   exclusion: the overlap: nobody could have come earlier
 *               meeting: the expanded path of q from T to y, less that of p from T to x; T: when
 *               the two met last
 * Both add up to the length of the segment, to the nanosecond; single reasons may be negative: p
 * did more of it.
 *
 * Computed in steps, wait by wait in their order; what is known stays as it is as the run grows.
 * Not thread-safe. */
#ifndef SERVER_ANALYSIS_WAIT_ATTRIBUTION_H
#define SERVER_ANALYSIS_WAIT_ATTRIBUTION_H

#include "server/analysis/last_synchronization.h"
#include "server/analysis/path_difference.h"

/* How far back one looks. */
enum attribution_since {
    SINCE_CLASS, /* as the class of the segment says */
    SINCE_WAIT, /* always to the wait's begin */
    SINCE_LAST_SYNC, /* always to the last meeting */
};

/* Zero-initialised but for `since` and paths.all: nothing is known. */
struct wait_attribution {
    enum attribution_since since;
    struct path_difference paths;
    struct last_sync_index encounters;
    size_t done; /* waits */
    struct accumulator theirs, mine, stepped; /* scratch */
    struct path_share *shares, *sorting; /* likewise */
    size_t share_room, sorting_room;
};

/* Goes on for about so many intervals looked at.  True: all waits there are now are known. */
bool wait_attribution_step(struct wait_attribution *why, uint64_t budget);

/* Whether a segment is looked at from a meeting on, and from when. */
bool wait_attribution_by_sync(const struct wait_attribution *why, uint32_t segment);
struct last_sync wait_attribution_since(const struct wait_attribution *why, uint32_t segment);
/* What is known of a segment, in the order of steps, then of threads; of a wait that is done. */
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

/* The two paths side by side, of a segment that is known: of whom it waited for and of who waited,
 * into two tallies (added to) of `pairs`. */
void wait_attribution_paths(struct wait_attribution *why, uint32_t segment,
                            struct accumulator *theirs, struct accumulator *mine);
void wait_attribution_free(struct wait_attribution *why); /* empties it, but for paths.all */

#endif
