/* Calls that would not be heard in another order: who waits for them waits for ever.
 *
 * Lost: a call by a thread that has never been in the lock of those who wait, nor has anybody before it who is not one of
 * them.  So nothing keeps it from coming after a waiter has looked whether it must wait, and before it waits.  (Where
 * somebody was in the lock before, what is called for may be told there.)
 *
 * Missed: a call that wakes one, where several could wait: at different places, called by a third; or more that come in
 * where one waited than there are calls in all. */
#ifndef SERVER_CAUSES_WAKINGS_H
#define SERVER_CAUSES_WAKINGS_H

#include "memory/map.h"
#include "server/causes/findings.h"

struct wakings {
    struct wakings_object *objects; /* what is waited for */
    size_t object_count, object_room;
    struct map object_of; /* line -> 1 + index */
    struct map last; /* thread, lock -> its last visit's index + 1 */
    struct wakings_visit *visits;
    size_t visit_count, visit_room;
    struct map of_lock; /* lock -> 1 + index of the lists of its visits */
    struct wakings_lock *locks;
    size_t lock_count, lock_room;
    struct map found;
    size_t next; /* of objects */
};

void wakings_deed(struct wakings *wakings, const struct deed *deed);
bool wakings_go_on(struct wakings *wakings, struct findings *findings, uint64_t *budget);
void wakings_free(struct wakings *wakings);

#endif
