/* Restrictions that the calling thread puts on its own system calls (prctl, seccomp). */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_INSTALL_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_INSTALL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Must be called before a call of prctl or seccomp, with its first three arguments. Returns whether
 * the caller must call seccomp_install_failed() if that fails, and seccomp_install_done() if it
 * succeeds. */
bool seccomp_install_begin(long number, long what, long how, long program);
void seccomp_install_failed(void); /* Restores the previous state. */
void seccomp_install_done(void);
bool seccomp_is_quiet(void); /* Returns whether the thread must not make any system call. */

#pragma GCC visibility pop
#endif
