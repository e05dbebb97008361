/* Signals that are blocked in the calling thread. */
#ifndef CLIENTS_LIBPOET_CORE_MASK_H
#define CLIENTS_LIBPOET_CORE_MASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A saved signal mask, one bit for each signal. Signals that a thread's own fault raises are never
 * blocked. */
struct mask {
    uint64_t bits;
};

struct mask mask_hold(void);
void mask_set(struct mask mask); /* Blocks exactly these signals again. */

/* Signal mask of a new thread. Signals are blocked in it until its start is recorded, so that the
 * events of a handler find its line. Its creator blocks them while it creates the thread, and
 * restores its own mask after that; the thread sets this mask when it has begun. */
struct mask_new {
    struct mask before;
    bool inherited; /* the new thread inherits its creator's mask */
};

struct mask_new mask_hold_new(const pthread_attr_t *attributes);
void mask_begun(struct mask_new mask); /* Must be called by the new thread itself. */

#pragma GCC visibility pop
#endif
