/* Resource usage of a thread, which it reports itself at its end. */
#ifndef CLIENTS_LIBPOET_CORE_THREAD_USAGE_H
#define CLIENTS_LIBPOET_CORE_THREAD_USAGE_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* Reports getrusage(2) of the calling thread, or of the whole process, if the server wants it and
 * no seccomp filter could reject the call. */
void thread_usage_send(struct traced_thread *thread, bool process);
/* Reports the usage of the process only, if no recorded thread ends it: in a program of a runtime's
 * tasks. */
void thread_usage_send_process(void);
/* Must be called in the main thread, when it begins to be traced. */
void thread_usage_begin_main(void);
void thread_usage_forked(void); /* Called in a child, where CPU time starts at 0. */

#pragma GCC visibility pop
#endif
