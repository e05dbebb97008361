/* When more than one thread ran: how concurrent a run was, moment by moment, in one bit.
 *
 * Who waits does not run, and who is let go does not before it goes on.  Times are ns of the run. */
#ifndef SERVER_MEASURE_LEVELS_H
#define SERVER_MEASURE_LEVELS_H

#include "server/measure/intervals.h"

/* Zero-initialised: never. */
struct levels {
    struct level {
        int64_t at_ns;
        int64_t above_ns; /* for so long more than one had run by then */
        int running; /* from then on */
    } *items; /* in the order of time */
    size_t count, room;
};

void levels_make(struct levels *levels, const struct intervals *all);
/* The same of other times at which something ran: adds them one by one, in any order, and then once
 * adds them up. */
void levels_add(struct levels *levels, int64_t from_ns, int64_t to_ns);
void levels_add_up(struct levels *levels);
/* How many run at a time.  *near is as below. */
int levels_running(const struct levels *levels, int64_t at_ns, size_t *near);
/* How much of from..to more than one ran.  *near is the index that was found last, 0 at first. */
int64_t levels_above(const struct levels *levels, int64_t from_ns, int64_t to_ns, size_t *near);
void levels_free(struct levels *levels); /* empties it */

#endif
