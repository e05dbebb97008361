/* Waits for a condition variable that no test of a predicate precedes: the code from the
 * acquisition of the mutex to the wait has no branch, so that each thread that acquires it there
 * waits, whatever was signaled before. Found by decoding the machine code (x86-64); where it has an
 * instruction that is not known here, nothing is claimed. Thread-safe. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_UNCHECKED_WAITS_H
#define CLIENTS_LIBPOET_INTERPOSE_UNCHECKED_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns whether execution continues from one address to another one without a branch except
 * calls, which return. */
bool unchecked_wait_is_straight(const uint8_t *from, const uint8_t *to);
/* Returns whether a wait at a call site (the last byte of the call) is unchecked after the mutex
 * was acquired at another one; once for most call sites. */
bool unchecked_wait_is_new(uintptr_t lock_site, uintptr_t wait_site);

#pragma GCC visibility pop

#endif
