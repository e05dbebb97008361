/* Calls that would not be heard in another order: who waits for them waits for ever.
 *
 * Lost: a call by a thread that has never been in the lock of those who wait, nor has anybody
 * before it who is not one of them.  So nothing keeps it from coming after a waiter has looked
 * whether it must wait, and before it waits.  (Where somebody was in the lock before, what is
 * called for may be told there.)
 *
 * Missed: a call that wakes one, where several could wait: at different places, called by a third;
 * or more that come in where one waited than there are calls in all. */
#ifndef SERVER_ANALYSIS_WAKEUP_RACES_H
#define SERVER_ANALYSIS_WAKEUP_RACES_H

#include "base/map.h"
#include "server/analysis/findings.h"

struct wakeup_races {
    struct wakeup_object *objects; /* what is waited for */
    size_t object_count, object_room;
    struct map object_of; /* line -> 1 + index */
    struct map last; /* thread, lock -> its last visit's index + 1 */
    struct wakeup_visit *visits;
    size_t visit_count, visit_room;
    struct map of_lock; /* lock -> 1 + index of the lists of its visits */
    struct wakeup_lock *locks;
    size_t lock_count, lock_room;
    struct map found;
    size_t next; /* of objects */
};

void wakeup_races_feed(struct wakeup_races *wakings, const struct sync_op *deed);
bool wakeup_races_step(struct wakeup_races *wakings, struct findings *findings, uint64_t *budget);
void wakeup_races_free(struct wakeup_races *wakings);

#endif
