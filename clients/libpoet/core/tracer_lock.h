/* The locks between our own threads of execution: held for a few instructions, or while the server
 * is told something, and never across a call of the program's.
 *
 * A thread that waits lends its priority to the one that holds (a priority-inheriting futex), so
 * that a real-time thread never spins before a thread that it keeps from running.  A thread that
 * holds one is busy: a signal handler that comes in between records nothing, and so never wants the
 * same lock. */
#ifndef CLIENTS_LIBPOET_CORE_TRACER_LOCK_H
#define CLIENTS_LIBPOET_CORE_TRACER_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

typedef _Atomic uint32_t latch; /* 0 free, else the holder's thread number and the kernel's bits */

void latch_lock(latch *lock);
bool latch_try_lock(latch *lock);
void latch_unlock(latch *lock);
/* In a child after fork: whoever held it is not there any more. */
static inline void latch_reset(latch *lock) { atomic_store(lock, 0); }
void latches_forked(void);

#pragma GCC visibility pop
#endif
