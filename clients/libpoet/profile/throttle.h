/* Functions that are called very often and for a very short time: they become counted only while
 * the program runs, where that is wanted (WANTED_THROTTLE).  The rule is TAU's (Shende and Malony,
 * The TAU Parallel Performance System, 2006), with what measuring takes here as the bound. */
#ifndef CLIENTS_LIBPOET_PROFILE_THROTTLE_H
#define CLIENTS_LIBPOET_PROFILE_THROTTLE_H

#include "clients/libpoet/profile/thread_profile.h"

#pragma GCC visibility push(hidden)

/* How many there are by now; a thread heeds those that there were when it looked last. */
extern _Atomic uint32_t throttle_count;

/* A timed call begins in that context. */
void throttle_check(struct thread_profile *m, uint32_t context);
/* Is it one of those that the thread heeds?  Also in signal handlers. */
bool throttle_is_throttled(const struct thread_profile *m, uint64_t function);
/* Since when, by the monotonic clock; 0: it is none. */
uint64_t throttle_since(uint64_t function);

#pragma GCC visibility pop
#endif
