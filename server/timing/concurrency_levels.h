/* When more than one thread ran: how concurrent a run was, moment by moment, in one bit.
 *
 * Who waits does not run, and who is let go does not before it goes on.  Times are ns of the
 * run. */
#ifndef SERVER_TIMING_CONCURRENCY_LEVELS_H
#define SERVER_TIMING_CONCURRENCY_LEVELS_H

#include "server/timing/intervals.h"

/* Zero-initialised: never. */
struct concurrency_levels {
    struct concurrency_level {
        int64_t at_ns;
        int64_t above_ns; /* for so long more than one had run by then */
        int running; /* from then on */
    } *items; /* in the order of time */
    size_t count, room;
};

void concurrency_levels_make(struct concurrency_levels *levels, const struct intervals *all);
/* The same of other times at which something ran: adds them one by one, in any order, and then once
 * adds them up. */
void levels_add(struct concurrency_levels *levels, int64_t from_ns, int64_t to_ns);
void levels_add_up(struct concurrency_levels *levels);
/* How many run at a time.  *near is as below. */
int levels_running(const struct concurrency_levels *levels, int64_t at_ns, size_t *near);
/* How much of from..to more than one ran.  *near is the index that was found last, 0 at first. */
int64_t concurrency_levels_above(const struct concurrency_levels *levels, int64_t from_ns,
                                 int64_t to_ns, size_t *near);
void concurrency_levels_free(struct concurrency_levels *levels); /* empties it */

#endif
