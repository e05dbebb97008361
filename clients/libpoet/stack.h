/* Additional stacks of a task. */
#ifndef CLIENTS_LIBPOET_STACK_H
#define CLIENTS_LIBPOET_STACK_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* The task ends and leaves all of them. */
void stack_forget_all(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
