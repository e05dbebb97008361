/* What the calling thread forbids itself. */
#ifndef CLIENTS_TRACE_CORE_FORBID_H
#define CLIENTS_TRACE_CORE_FORBID_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Before a call of prctl or seccomp, with its first three arguments; whether forbid_failed() is to be called where it
 * fails, and forbid_done() where it does not. */
bool forbid_before(long number, long what, long how, long program);
void forbid_failed(void); /* all goes on as before */
void forbid_done(void);
bool forbid_quiet(void); /* the thread must not make any system call */

#pragma GCC visibility pop
#endif
