/* Call stacks of coroutines that are suspended. */
#ifndef CLIENTS_LIBPOET_PROFILE_COROUTINE_STACKS_H
#define CLIENTS_LIBPOET_PROFILE_COROUTINE_STACKS_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

struct coroutine_calls;

/* Saves the calls of the innermost coroutine, which the thread leaves, in *kept, which is NULL at
 * first. returns: each resume is a call of its outermost function, and this is the end of one. */
void coroutine_stack_leave(struct traced_thread *thread, struct coroutine_calls **kept,
                           bool returns);
/* Restores the calls of a coroutine that the thread enters. */
void coroutine_stack_enter(struct traced_thread *thread, struct coroutine_calls *kept);
/* Restores them to end only: their time has been counted. */
void coroutine_stack_enter_to_end(struct traced_thread *thread, struct coroutine_calls *kept);
/* Ends the innermost coroutine and all its calls. */
void coroutine_stack_end(struct traced_thread *thread);

/* Counts another call of the outermost function of the innermost coroutine, as for a resume; does
 * nothing if no call is open. */
void coroutine_stack_call_again(struct traced_thread *thread);

/* Forgets saved calls, when another coroutine reuses them. */
void coroutine_stack_forget(struct coroutine_calls *kept);

#pragma GCC visibility pop
#endif
