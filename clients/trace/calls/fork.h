/* Forks by the system call itself. */
#ifndef CLIENTS_TRACE_CALLS_FORK_H
#define CLIENTS_TRACE_CALLS_FORK_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

bool fork_is(long number, long a, long b); /* the call makes a process with memory of its own */
void fork_begins(uintptr_t site);
void fork_ends(long number, long a, long b, long child); /* in both of them, and where it failed */

#pragma GCC visibility pop
#endif
