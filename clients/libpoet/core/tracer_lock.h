/* Locks between libpoet's own threads of execution: held for a few instructions, or while a message
 * is sent to the server, and never across a call of the program's.
 *
 * A waiter lends its priority to the holder (a priority-inheriting futex), so that a real-time
 * thread never spins while it keeps the holder from running. The holder is busy: a signal handler
 * that interrupts it records nothing, and so never needs the same lock. */
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
/* Resets a lock in a child after fork, where its holder does not exist any more. */
static inline void latch_reset(latch *lock) { atomic_store(lock, 0); }
void latches_forked(void);

#pragma GCC visibility pop
#endif
