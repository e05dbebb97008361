/* By whom a wait was ended: its segments, each with the thread that it was spent waiting for.
 *
 * A wait begins with w and ends with v.  Its causes are events c of other threads among those that
 * v's point comes directly after, with t(w) < t(c); one that is told with a later time than v, as
 * its call ended later, counts as at t(v).  Back from v: the latest of them ends the last segment.
 * If it ends a visit that began after t(w), nobody waited for that visitor before: the segment
 * before it ends with the latest of what that visit's begin comes directly after, of other threads
 * or by a visit of the same one, and of who else left.
 *
 * Who waits to be called into a line that others may enter meanwhile (a condition) waits to meet
 * who called, and from the call on for who is in the line.
 *
 * Looked at are the newest so many edges of an event, and so many visits: the cost of a wait is
 * bounded. */
#ifndef SERVER_TIMING_WAIT_RELEASE_H
#define SERVER_TIMING_WAIT_RELEASE_H

#include "server/timing/event_reader.h"
#include "server/timing/lock_holders.h"
#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

#define RELEASE_SEGMENTS 256u /* of one wait; what is before is told as part of the first one */

struct release_cause {
    uint64_t position;
    int64_t ns;
    uint32_t thread, line;
    const struct event_meaning *meaning;
};

struct wait_release { /* one wait */
    const struct run_metadata_source *teller;
    struct event_reader *events; /* of its order */
    const struct lock_holders *holds;
    const struct event_meaning *meaning; /* of w */
    uint64_t begin, end; /* w, and v, or any event of its point */
    int64_t from_ns, to_ns;
    uint32_t thread;
    bool sent; /* it waited until what it sent had gone */
    const struct release_cause *arrivals; /* of v's group: what its members did before, by time */
    size_t arrival_count;
    const struct release_cause
        *about; /* the newest events about what it waited for, or on that line */
    size_t about_count;
};

enum release_missing { /* why there are no segments */
                       MISSING_UNTRACED, /* nothing that is known let it go on */
                       MISSING_LOST, /* events that it may have been were lost or are forgotten */
                       /* who it was to meet was there already, the lock free: all of the wait is
                        * latency */
                       MISSING_NOTHING
};

/* Fills the segments, the earliest first, RELEASE_SEGMENTS at most; how many.  *missing is told of
 * none, and *unreceived the position of a send whose receive, not in the log yet, may still tell
 * who it was; or NO_POSITION. */
uint32_t wait_release_find(const struct wait_release *release, struct wait_interval *segments,
                           enum release_missing *missing, uint64_t *unreceived);

#endif
