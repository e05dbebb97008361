/* The calling thread, declared apart from thread.h because locks use it, too. */
#ifndef CLIENTS_LIBPOET_CORE_CURRENT_THREAD_H
#define CLIENTS_LIBPOET_CORE_CURRENT_THREAD_H

struct traced_thread;

#pragma GCC visibility push(hidden)

/* The calling thread, or NULL if it is not traced. */
extern __thread struct traced_thread *thread_mine __attribute__((tls_model("initial-exec")));
/* The calling thread of the system itself, whichever task it acts as. */
extern __thread struct traced_thread *thread_base __attribute__((tls_model("initial-exec")));

#pragma GCC visibility pop
#endif
