/* What the calling thread forbids itself. */
#ifndef CLIENTS_LIBPOET_CORE_SECCOMP_INSTALL_H
#define CLIENTS_LIBPOET_CORE_SECCOMP_INSTALL_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Before a call of prctl or seccomp, with its first three arguments; whether
 * seccomp_install_failed() is to be called where it fails, and seccomp_install_done() where it does
 * not. */
bool seccomp_install_begin(long number, long what, long how, long program);
void seccomp_install_failed(void); /* all goes on as before */
void seccomp_install_done(void);
bool seccomp_is_quiet(void); /* the thread must not make any system call */

#pragma GCC visibility pop
#endif
