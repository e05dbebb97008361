/* Releases of a wait: its wait intervals, each with the awaited thread.
 *
 * A wait begins with event w and ends with v.  The causes of v are events c of other threads that
 * v's synchronization point directly follows, with t(w) < t(c); if c has a later time than v, as
 * its call ended later, it counts as at t(v).  The search goes backwards from v: the latest cause
 * ends the last wait interval.  If that cause ends a critical section that began after t(w), no
 * thread waited for its holder before.  The previous wait interval then ends with the latest of the
 * other threads' events that directly precede the begin of that critical section (or another
 * critical section of the same holder) and of other releases.
 *
 * A thread that waits to be signaled while others may enter the line (a condition variable) waits
 * for a rendezvous with the signaling thread, and from the signal on for the holder of the lock.
 *
 * Only a limited number of the newest edges of an event and of critical sections is visited, so the
 * cost of a wait is bounded. */
#ifndef SERVER_TIMING_WAIT_RELEASE_H
#define SERVER_TIMING_WAIT_RELEASE_H

#include "server/timing/event_reader.h"
#include "server/timing/lock_holders.h"
#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

#define RELEASE_SEGMENTS 256u /* maximum for one wait; earlier ones are merged into the first */

struct release_cause {
    uint64_t position;
    int64_t ns;
    uint32_t thread, line;
    const struct event_meaning *meaning;
};

struct wait_release { /* one wait */
    const struct run_metadata_source *teller;
    struct event_reader *events; /* events of the order */
    const struct lock_holders *holds;
    const struct event_meaning *meaning; /* meaning of w */
    uint64_t begin, end; /* w, and v or any event of its synchronization point */
    int64_t from_ns, to_ns;
    uint32_t thread;
    bool sent; /* it waited until its message was received */
    /* the last events of the members of v's group before it, by time */
    const struct release_cause *arrivals;
    size_t arrival_count;
    const struct release_cause *about; /* the newest events about the awaited line, or on it */
    size_t about_count;
};

enum release_missing { /* why there are no wait intervals */
                       MISSING_UNTRACED, /* no traced event released it */
                       MISSING_LOST, /* events that may have released it were lost or discarded */
                       /* the other thread had arrived already, or the lock was free: all of the
                        * wait is latency */
                       MISSING_NOTHING
};

/* Finds the wait intervals, the earliest first, at most RELEASE_SEGMENTS, and returns how many.  If
 * there are none *missing says why, and *unreceived is the position of a send; its receive, not in
 * the log yet, may still tell the releasing thread, or NO_POSITION. */
uint32_t wait_release_find(const struct wait_release *release, struct wait_interval *segments,
                           enum release_missing *missing, uint64_t *unreceived);

#endif
