/* Paths: what filled a span of time of a thread, summed by code segment and thread.
 *
 * There are two.  The *overlap* is what ran at each moment of the span: where the thread itself
 * waited, what the awaited thread did, and so on.  The *expanded* path has, for a wait that lies in
 * the span as a whole, the reasons of that wait instead (wait_attribution.h); these add up to the
 * wait's length, too.  Before the creation of a thread its creator is followed.  Each sum over a
 * path is the length of the span, to the nanosecond: unknown time is a code segment of its own.
 *
 * Long spans are differences of prefix sums, which are kept every few intervals along a thread's
 * timeline, and built on demand, over intervals with known reasons.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_PATH_DIFFERENCE_H
#define SERVER_ANALYSIS_PATH_DIFFERENCE_H

#include "server/analysis/segment_sums.h"
#include "server/timing/intervals.h"

enum path_list_kind { PATH_OVERLAP, PATH_EXPANDED, PATHS };

/* Zero-initialize it except `all`; nothing is known then. */
struct path_difference {
    const struct intervals *all; /* not owned */
    struct segment_ids pairs;
    struct list_pool bag;
    uint64_t *lists[PATHS]; /* by wait interval: its overlap, its reasons */
    size_t list_room[PATHS], known; /* known: number of wait intervals with stored lists */
    struct persistent_map sums;
    struct prefix_sums { /* prefix sums along the timeline of one thread, by its index */
        struct prefix_sum {
            size_t at; /* before this interval */
            struct persistent_map_root sums[PATHS];
        } *rungs;
        size_t count, room;
        struct persistent_map_root head[PATHS];
        size_t near; /* index that was found last */
    } *ladders;
    size_t ladder_count, ladder_room;
    uint32_t spacing; /* intervals between two prefix sums; 0: chosen automatically */
    uint64_t visited; /* intervals and shares visited so far: a measure of the cost */
    /* spans that may still be followed for this wait: inconsistent records can form cycles */
    uint32_t fuel;
};

/* Adds what filled from_ns..to_ns of a thread. */
void path_difference_add(struct path_difference *paths, struct accumulator *tally,
                         enum path_list_kind which, uint32_t line, int64_t from_ns, int64_t to_ns);
/* Stores the lists of the next wait interval; must be called in the order of the wait
 * intervals. */
void path_difference_store(struct path_difference *paths, uint64_t overlap, uint64_t reasons);
/* Returns the number of a code segment of a thread. */
uint32_t path_difference_pair(struct path_difference *paths, uint32_t line, uint32_t step);
/* Returns the index of the thread's first interval that ends after a time, searching from the one
 * that was found last. */
size_t path_difference_near(struct path_difference *paths, uint32_t index, int64_t at_ns);
/* Frees the memory, except what `all` points to. */
void path_difference_free(struct path_difference *paths);

#endif
