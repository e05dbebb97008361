/* Semaphores that a run uses as locks.
 *
 * That is so if the initial value is known to be 1, and each use is an acquisition and then a post
 * by the same thread, one at a time. A semaphore that threads acquire by sem_trywait or with a
 * timeout as well is none: its acquisitions need not wait. Not thread-safe. */
#ifndef SERVER_QUERIES_SEMAPHORE_LOCKS_H
#define SERVER_QUERIES_SEMAPHORE_LOCKS_H

#include "server/run/run.h"

/* A zero-initialized struct is that of a run of which nothing was examined. */
struct semaphore_locks {
    uint8_t *known; /* by line: nonzero: a lock */
    size_t room;
    uint32_t line; /* the last one examined, up to the event `next`, counted from 0 */
    uint64_t next;
    uint32_t holder; /* the thread that has the unit of that line now; 0: none */
    bool binary; /* its initial value is known to be 1 */
    uint64_t posts;
};

/* Examines the semaphores of a run with about `budget` steps; returns true once all are done. */
bool semaphore_locks_step(struct semaphore_locks *locks, const struct run *run, uint64_t *budget);
bool semaphore_locks_have(const struct semaphore_locks *locks, uint32_t line);
void semaphore_locks_free(struct semaphore_locks *locks);

#endif
