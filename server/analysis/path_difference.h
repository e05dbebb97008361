/* Paths: what filled a stretch of time of a thread, added up by who did what.
 *
 * Two of them.  The *overlap* of a stretch is what ran at each of its moments: where the thread
 * itself waited, the one it waited for then, and so on.  The *expanded* path takes, for a wait that
 * lies in it whole, the reasons of that wait instead (wait_attribution.h); they add up to the
 * wait's length, too.  Before a thread was made its maker is looked at.  Each sum over a path is
 * the length of the stretch, to the nanosecond: what nobody knows is a step of its own.
 *
 * Long stretches are differences of sums kept every so many intervals.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_PATH_DIFFERENCE_H
#define SERVER_ANALYSIS_PATH_DIFFERENCE_H

#include "server/analysis/list_pool.h"
#include "server/analysis/segment_ids.h"
#include "server/analysis/persistent_map.h"
#include "server/analysis/accumulator.h"
#include "server/timing/intervals.h"

enum path_list_kind { PATH_OVERLAP, PATH_EXPANDED, PATHS };

/* Zero-initialised but for `all`: nothing was looked at. */
struct path_difference {
    const struct intervals *all; /* not owned */
    struct segment_ids pairs;
    struct list_pool bag;
    uint64_t *lists[PATHS]; /* by segment: its overlap, its reasons */
    size_t list_room[PATHS], known; /* of so many segments they are known */
    struct persistent_map sums;
    struct prefix_sums { /* of one thread, by its index: sums kept along its course */
        struct prefix_sum {
            size_t at; /* before this interval */
            struct persistent_map_root sums[PATHS];
        } *rungs;
        size_t count, room;
        struct persistent_map_root head[PATHS];
        size_t near; /* where it was looked at last */
    } *ladders;
    size_t ladder_count, ladder_room;
    uint32_t spacing; /* intervals between two rungs; 0: as is good */
    uint64_t visited; /* intervals and shares, so far: what it cost */
    /* stretches that may still be followed for this wait: broken records run in circles */
    uint32_t fuel;
};

/* Adds what filled from..to of a thread. */
void path_difference_add(struct path_difference *paths, struct accumulator *tally,
                         enum path_list_kind which, uint32_t line, int64_t from_ns, int64_t to_ns);
/* The next segment's lists are these (list_pool.h), in the order of the segments. */
void path_difference_store(struct path_difference *paths, uint64_t overlap, uint64_t reasons);
/* The code of a step of a thread. */
uint32_t path_difference_pair(struct path_difference *paths, uint32_t line, uint32_t step);
void path_difference_free(
    struct path_difference *paths); /* empties it; what `all` points to is not its own */

#endif
