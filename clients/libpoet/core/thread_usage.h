/* What the system says a thread used, told by itself at its end. */
#ifndef CLIENTS_LIBPOET_CORE_THREAD_USAGE_H
#define CLIENTS_LIBPOET_CORE_THREAD_USAGE_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* Tells getrusage(2) of the calling thread, or of the whole process, if the server wants it: only
 * where no filter of system calls could object. */
void thread_usage_send(struct traced_thread *thread, bool process);
/* Of the process alone, where no thread that is recorded ends it: in a program of a runtime's
 * tasks. */
void thread_usage_send_process(void);
void thread_usage_begin_main(void); /* in the main thread, when it begins to be traced */
void thread_usage_forked(void); /* in a child: its processor time begins anew */

#pragma GCC visibility pop
#endif
