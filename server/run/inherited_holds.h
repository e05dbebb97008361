/* Locks that were held when a process was forked: the child has the lock in that state, and not the
 * thread that held it (the message HELD).
 *
 * A hold is over with the first event on the lock's line in the child.  Not thread-safe. */
#ifndef SERVER_RUN_INHERITED_HOLDS_H
#define SERVER_RUN_INHERITED_HOLDS_H

#include "server/run/run.h"

struct inherited_hold {
    /* identity of the lock's line in the process that forked, and the last event there at the fork,
     * which its holder recorded */
    uint64_t high, low, number;
};

void inherited_holds_add(struct run *run, uint32_t line, struct inherited_hold hold);
/* Returns the last event of the holder of a line's lock before the fork; line 0: it was not held
 * then, or no longer is. */
struct event_id inherited_holds_last(const struct run *run, uint32_t line);

#endif
