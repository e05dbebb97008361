/* The stacks that a task runs on besides its own. */
#ifndef CLIENTS_TRACE_STACK_H
#define CLIENTS_TRACE_STACK_H

#include "clients/trace/core/thread.h"

#pragma GCC visibility push(hidden)

/* The task ends: it is on none of them any more. */
void stack_forget_all(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
