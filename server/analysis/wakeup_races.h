/* Wake-up races: signals that no thread would receive in another order, so that the waiter waits
 * forever.
 *
 * - Lost wake-up: a signal by a thread that has never held the waiters' lock, and neither has any
 *   thread before it that is not one of the waiters.  Nothing keeps the signal from coming after a
 *   waiter has tested its predicate and before it waits. (If such a thread held the lock before, it
 *   may have changed the predicate there.)
 * - Signal instead of broadcast: a signal that wakes one thread where several could wait: at
 *   different call sites, signaled by a third thread; or where more threads acquire the lock after
 *   a wait than there are signals in all, unless each thread waits for an object of its own: one
 *   call site, several objects. */
#ifndef SERVER_ANALYSIS_WAKEUP_RACES_H
#define SERVER_ANALYSIS_WAKEUP_RACES_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct wakeup_races {
    struct wakeup_object *objects; /* awaited synchronization objects */
    size_t object_count, object_room;
    struct map object_of; /* line -> 1 + index */
    struct map last; /* thread, lock -> 1 + index of its last critical section */
    struct wakeup_visit *visits;
    size_t visit_count, visit_room;
    struct map of_lock; /* lock -> 1 + index in `locks` */
    struct wakeup_lock *locks;
    size_t lock_count, lock_room;
    struct map found;
    struct map object_at; /* call site of waits -> 1 + line of the object, or several */
    size_t next; /* index of the next object */
};

void wakeup_races_feed(struct wakeup_races *wakings, const struct sync_op *op);
bool wakeup_races_step(struct wakeup_races *wakings, struct findings *findings, uint64_t *budget);
void wakeup_races_free(struct wakeup_races *wakings);

#endif
