/* Holds of locks: for how long which thread held which object that threads enter and leave (mutex,
 * read-write lock, semaphore used as a lock, monitor), according to the target description.
 *
 * Objects are scanned one after the other, each along its own line, so that memory is needed for
 * the threads that hold one object at a time.  Times are ns of the run.  Not thread-safe. */
#ifndef SERVER_QUERIES_LOCK_HOLDS_H
#define SERVER_QUERIES_LOCK_HOLDS_H

#include "server/run/run.h"

struct lock_hold_span {
    uint32_t line, thread; /* the object, and its holder */
    int64_t from_ns, to_ns;
    uint64_t acquired; /* position of the event with which it began */
    bool open; /* it was not released: to_ns is the end of the run */
};

struct lock_holds {
    const struct run *run; /* set by the caller, like the following */
    uint32_t object; /* the only object to scan; 0: all */
    /* Called for each hold, in the order of their ends along each object; open ones last. */
    void (*on_hold)(void *context, const struct lock_hold_span *hold);
    void *context;
    uint32_t line; /* private, like the following: the object that is scanned; 0: none yet */
    uint64_t ordinal; /* of its next event */
    struct lock_hold_span *holders; /* that hold it now */
    size_t count, room;
    bool is_released; /* a holder released the object */
    bool is_signaled; /* a thread released it that did not hold it */
};

/* Scans about *budget events; returns true once all objects are scanned. */
bool lock_holds_step(struct lock_holds *holds, uint64_t *budget);
void lock_holds_free(struct lock_holds *holds); /* frees the memory */

#endif
