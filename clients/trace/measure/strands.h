/* The calls of coroutines, while a thread is elsewhere. */
#ifndef CLIENTS_TRACE_MEASURE_STRANDS_H
#define CLIENTS_TRACE_MEASURE_STRANDS_H

#include "clients/trace/core/thread.h"

#pragma GCC visibility push(hidden)

struct strand_calls;

/* The thread leaves the innermost coroutine that it runs: its calls are kept in *kept, which is NULL at first. */
void strand_leave(struct thread *thread, struct strand_calls **kept);
/* It runs another one, in which those are open. */
void strand_enter(struct thread *thread, struct strand_calls *kept);
/* The innermost one has ended, and all its calls. */
void strand_end(struct thread *thread);

/* The outermost call of the innermost coroutine is called once more, as a resume of it is; not
 * where none is open. */
void strand_call_again(struct thread *thread);

/* What is kept is another coroutine's from now on. */
void strand_forget(struct strand_calls *kept);

#pragma GCC visibility pop
#endif
