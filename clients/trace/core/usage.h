/* What the system says a thread used, told by itself at its end. */
#ifndef CLIENTS_TRACE_CORE_USAGE_H
#define CLIENTS_TRACE_CORE_USAGE_H

#include "clients/trace/core/thread.h"

#pragma GCC visibility push(hidden)

/* Tells getrusage(2) of the calling thread, or of the whole process, if the server wants it: only where no filter of
 * system calls could object. */
void usage_tell(struct thread *thread, bool process);
void usage_forbid(void); /* a filter of system calls comes: no more of that */

#pragma GCC visibility pop
#endif
