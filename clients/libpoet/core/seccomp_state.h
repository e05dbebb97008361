/* Detects whether system calls were already filtered when the program began, by the process that
 * started it. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_STATE_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_STATE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Returns whether the kernel reported no filter when it was first queried. */
bool seccomp_filter_is_none(void);

#pragma GCC visibility pop
#endif
