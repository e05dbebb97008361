/* Additional stacks of a task. */
#ifndef CLIENTS_LIBPOET_STACK_H
#define CLIENTS_LIBPOET_STACK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct poet_stack;

/* The stacks that a task runs on. Written by the task: its own one by user_lines.c, the rest by
 * stack.c. */
struct task_stacks {
    struct poet_stack *innermost; /* the additional one that it runs on; NULL: its own */
    uintptr_t own_from, own_bytes; /* the memory of its own one; 0 bytes: not known */
};

/* The task ends and leaves all of them. */
void stack_forget_all(struct traced_thread *thread);

#pragma GCC visibility pop
#endif
