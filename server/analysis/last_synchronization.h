/* Encounters: when two threads met last, from where on both could have come earlier.
 *
 * Two threads meet where one lets the other go on that waited for it (not as a lock changes hands:
 * who held it did not come to meet anybody), where a group gathers with both in it, and where one
 * makes the other.  If they never met, they come from where their makers' lines part; without any
 * they have been since the earlier of them began.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_LAST_SYNCHRONIZATION_H
#define SERVER_ANALYSIS_LAST_SYNCHRONIZATION_H

#include "server/timing/intervals.h"

/* Zero-initialised: none. */
struct last_sync_index {
    /* two lines, the lower first -> 1 + the last segment in which one waited for the other */
    struct map last;
    uint32_t *before; /* by segment: 1 + the one before of the same two; 0: none */
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
    /* of the event by which they met, or parted; NO_POSITION: there is no single one */
    uint64_t position;
};

/* The segments of a wait are meetings from now on, told in the order of the waits. */
void last_sync_add(struct last_sync_index *encounters, const struct intervals *all,
                   const struct wait_record *wait);
/* The last one not after a time. */
struct last_sync last_sync_find(const struct last_sync_index *encounters,
                                const struct intervals *all, uint32_t a, uint32_t b,
                                int64_t until_ns);
void last_sync_free(struct last_sync_index *encounters); /* empties it */

#endif
