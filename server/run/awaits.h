/* Waits of threads that no event records: for the end of another thread, from a time after one of
 * their events until their next event (the message AWAITS).
 *
 * The first AWAITS_MOST of a run are kept.  Not thread-safe. */
#ifndef SERVER_RUN_AWAITS_H
#define SERVER_RUN_AWAITS_H

#include "server/run/run.h"

#define AWAITS_MOST (1u << 22)

struct await {
    uint32_t thread, about; /* lines of the waiter and of the thread that it awaits the end of */
    struct event_id after; /* the waiter's last event before the wait */
    /* When it began to wait, by the clock of its program, as `time_ns` of events */
    int64_t since_ns;
    uint32_t site; /* where it waits, as of events */
};

void awaits_add(struct run *run, struct await await);

size_t awaits_count(const struct run *run);
/* in the order in which they were received */
const struct await *awaits_at(const struct run *run, size_t i);
/* Returns what the event's thread waits for directly after it, or NULL.  For a sync pair it may be
 * either event. */
const struct await *awaits_after(const struct run *run, const struct order_event *event);

#endif
