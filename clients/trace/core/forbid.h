/* What the calling thread forbids itself. */
#ifndef CLIENTS_TRACE_CORE_FORBID_H
#define CLIENTS_TRACE_CORE_FORBID_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Before a call of prctl or seccomp, with its first two arguments; whether the thread is quiet for it. */
bool forbid_before(long number, long what, long how);
void forbid_failed(void); /* it goes on as before */
bool forbid_filtered(
    void); /* system calls are filtered, or may be: none that the program does not make itself */
bool forbid_quiet(void); /* the thread must not make any system call */

#pragma GCC visibility pop
#endif
