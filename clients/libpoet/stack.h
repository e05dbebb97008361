/* The stacks that a task runs on besides its own. */
#ifndef CLIENTS_LIBPOET_STACK_H
#define CLIENTS_LIBPOET_STACK_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* The task ends: it is on none of them any more. */
void stack_forget_all(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
