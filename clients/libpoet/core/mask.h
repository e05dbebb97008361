/* Signals that are held back from the calling thread. */
#ifndef CLIENTS_LIBPOET_CORE_MASK_H
#define CLIENTS_LIBPOET_CORE_MASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What was blocked before, one bit each.  Those that a thread's own fault brings are never held. */
struct mask {
    uint64_t bits;
};

struct mask mask_hold(void);
void mask_set(struct mask mask); /* exactly these are blocked again */

/* A new thread has no signals until its start is recorded, so that a handler that one calls finds
 * its line.  Its creator holds them while it makes the thread, and sets its own mask again after
 * that; the thread sets that one when it has begun. */
struct mask_new {
    struct mask before;
    bool inherited; /* the new thread has what its creator has */
};

struct mask_new mask_hold_new(const pthread_attr_t *attributes);
void mask_begun(struct mask_new mask); /* by the thread itself */

#pragma GCC visibility pop
#endif
