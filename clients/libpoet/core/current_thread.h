/* Which thread is the calling one: known to locks, too, which come before all that a thread is. */
#ifndef CLIENTS_LIBPOET_CORE_CURRENT_THREAD_H
#define CLIENTS_LIBPOET_CORE_CURRENT_THREAD_H

struct traced_thread;

#pragma GCC visibility push(hidden)

/* The calling thread, or NULL if it is none of ours. */
extern __thread struct traced_thread *thread_mine __attribute__((tls_model("initial-exec")));
/* Of the system's thread itself, whichever task it acts as. */
extern __thread struct traced_thread *thread_base __attribute__((tls_model("initial-exec")));

#pragma GCC visibility pop
#endif
