/* Throttling (WANTED_THROTTLE): functions that are called very often and take very little time are
 * only counted from then on. The rule is TAU's (Shende and Malony, The TAU Parallel Performance
 * System, 2006), with the measured overhead as the bound. */
#ifndef CLIENTS_LIBPOET_PROFILE_THROTTLE_H
#define CLIENTS_LIBPOET_PROFILE_THROTTLE_H

#include "clients/libpoet/profile/thread_profile.h"

#pragma GCC visibility push(hidden)

/* Checks the rule when a timed call begins in that context. */
void throttle_check(struct thread_profile *m, uint32_t context);
/* Returns whether the function is one of those that the thread has noticed. Async-signal-safe. */
bool throttle_is_throttled(const struct thread_profile *m, uint64_t function);
/* Returns when the function was throttled, by the monotonic clock; 0: it is not. */
uint64_t throttle_since(uint64_t function);

#pragma GCC visibility pop
#endif
