/* Attribution of waits: for each wait interval, what ran meanwhile and what delayed the awaited
 * thread, and the division of its time among the code segments that made it long.
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

#include "server/analysis/path_difference.h"
#include "server/timing/intervals.h"

/* ---- the last synchronization of two threads ----
 *
 * It is the moment after which both could have arrived earlier. Two threads synchronize where one
 * unblocks the other (except by handing over a lock, as its holder did not intend to meet the
 * waiter), where both are members of a group, and where one creates the other.  If they never
 * synchronized, their histories begin where those of their creators diverge; if they have no common
 * creator, when the earlier of the two began. */

/* A zero-initialized index is empty. */
struct last_sync_index {
    /* two trace lines, the lower first -> 1 + the last wait interval in which one waited for the
     * other */
    struct map last;
    uint32_t *before; /* by wait interval: 1 + the previous one of the same two threads; 0: none */
    size_t room;
};

enum sync_kind {
    SYNC_KIND_WAITING,
    SYNC_KIND_GATHERING,
    SYNC_KIND_MADE,
    SYNC_KIND_PARTED,
    SYNC_KIND_NEVER
};

struct last_sync {
    int64_t at_ns;
    enum sync_kind how;
    /* position of the event at which they synchronized or diverged; NO_POSITION: there is no single
     * one */
    uint64_t position;
};

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

/* ---- attribution of a wait's time to the code segments that made it long ---- */

/* Time is attributed only to reasons that make the wait longer, each in its proportion.  Reasons
 * are matched by scope (for calls the function, else the code segment), regardless of the caller
 * and of the thread; within a scope time goes to the code segments and threads that took more.
 * Attributed times are whole nanoseconds and add up to the length of the wait interval: the
 * remainder of the division goes to the largest fractions. */

/* Meira's three causes of waiting. */
enum cause_kind {
    CAUSE_IMBALANCE, /* load imbalance: both threads were in that scope, the awaited one longer */
    CAUSE_SERIAL, /* insufficient parallelism: only the awaited thread was in that scope */
    /* contention and communication: the holder of a lock, the transfer of a message */
    CAUSE_CONTENTION,
    CAUSE_KINDS
};

struct attributed_time {
    uint32_t pair; /* wait_attribution_pair() */
    int64_t ns; /* greater than 0 */
    uint8_t kind; /* an enum cause_kind */
    bool direct; /* caused by the awaited thread itself, not by one that delayed it */
};

/* Scratch memory and the result of the last call.  Zero-initialize it. */
struct attribution {
    struct attributed_time *items; /* sorted by scope, code segment, thread */
    size_t count, room;
    struct path_share *shares;
    size_t share_count, share_room;
    int64_t *weights, *parts;
    struct attribution_remainder *rest;
    size_t weight_room, part_room, rest_room;
    uint64_t communication; /* bit mask of the categories of code segments that are communication */
    uint8_t (*category)(const void *context, uint32_t step); /* NULL: the segment's own category */
    const void *context;
};

/* Attributes `ns` of a wait interval that is explained: to its reasons, or to all that ran
 * meanwhile. */
void attribution_compute(struct attribution *charges, const struct wait_attribution *why,
                         uint32_t segment, enum path_list_kind which, int64_t ns);
void attribution_free(struct attribution *charges); /* frees the memory; it is empty then */

#endif
