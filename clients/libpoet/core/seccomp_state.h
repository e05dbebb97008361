/* Whether system calls were filtered when the program began: by whoever started it. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_STATE_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_STATE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* The kernel said that they were not, when this was asked first. */
bool seccomp_filter_is_none(void);

#pragma GCC visibility pop
#endif
