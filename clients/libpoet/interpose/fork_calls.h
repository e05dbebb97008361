/* Forks by direct system calls. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_FORK_CALLS_H
#define CLIENTS_LIBPOET_INTERPOSE_FORK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Returns whether the call creates a process with its own memory. */
bool fork_call_is_fork(long number, long a, long b);
void fork_call_begin(uintptr_t site);
/* Called in both processes, and when the call failed. */
void fork_call_end(long number, long a, long b, long child);

#pragma GCC visibility pop
#endif
