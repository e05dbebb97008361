/* Index of the last synchronization of two threads: the moment after which both could have arrived
 * earlier.
 *
 * Two threads synchronize where one unblocks the other (except by handing over a lock, as its
 * holder did not intend to meet the waiter), where both are members of a group, and where one
 * creates the other.  If they never synchronized, their histories begin where those of their
 * creators diverge; if they have no common creator, when the earlier of the two began.  Not
 * thread-safe. */
#ifndef SERVER_ANALYSIS_LAST_SYNCHRONIZATION_H
#define SERVER_ANALYSIS_LAST_SYNCHRONIZATION_H

#include "server/timing/intervals.h"

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

/* Adds the wait intervals of a wait.  Waits must be added in their order. */
void last_sync_add(struct last_sync_index *encounters, const struct intervals *all,
                   const struct wait_record *wait);
/* Returns the last synchronization of two threads that is not after a time. */
struct last_sync last_sync_find(const struct last_sync_index *encounters,
                                const struct intervals *all, uint32_t a, uint32_t b,
                                int64_t until_ns);
void last_sync_free(struct last_sync_index *encounters); /* frees the memory; it is empty then */

#endif
