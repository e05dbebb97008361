/* Forks by the system call itself. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_FORK_CALLS_H
#define CLIENTS_LIBPOET_INTERPOSE_FORK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

bool fork_call_is_fork(long number, long a,
                       long b); /* the call makes a process with memory of its own */
void fork_call_begin(uintptr_t site);
void fork_call_end(long number, long a, long b,
                   long child); /* in both of them, and where it failed */

#pragma GCC visibility pop
#endif
