/* The calls of coroutines, while a thread is elsewhere. */
#ifndef CLIENTS_LIBPOET_PROFILE_COROUTINE_STACKS_H
#define CLIENTS_LIBPOET_PROFILE_COROUTINE_STACKS_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

struct coroutine_calls;

/* The thread leaves the innermost coroutine that it runs: its calls are kept in *kept, which is
 * NULL at first. */
void coroutine_stack_leave(struct traced_thread *thread, struct coroutine_calls **kept);
/* It runs another one, in which those are open. */
void coroutine_stack_enter(struct traced_thread *thread, struct coroutine_calls *kept);
/* The innermost one has ended, and all its calls. */
void coroutine_stack_end(struct traced_thread *thread);

/* The outermost call of the innermost coroutine is called once more, as a resume of it is; not
 * where none is open. */
void coroutine_stack_call_again(struct traced_thread *thread);

/* What is kept is another coroutine's from now on. */
void coroutine_stack_forget(struct coroutine_calls *kept);

#pragma GCC visibility pop
#endif
