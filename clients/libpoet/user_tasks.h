/* User-level tasks: the stacks that they run on, and the carrier threads that run them. */
#ifndef CLIENTS_LIBPOET_USER_TASKS_H
#define CLIENTS_LIBPOET_USER_TASKS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct traced_thread;
struct poet_stack;

/* The stacks that a task runs on. Written by the task: its own one by user_lines.c, the rest by
 * user_tasks.c. */
struct task_stacks {
    struct poet_stack *innermost; /* the additional one that it runs on; NULL: its own */
    uintptr_t own_from, own_bytes; /* the memory of its own one; 0 bytes: not known */
};

/* The task ends and leaves all of them. */
void stack_forget_all(struct traced_thread *thread);

/* ---- carrier threads ----
 *
 * They are threads of the system. Each change of a task's carrier is reported
 * (wire/task_placement.h). */

/* The calling thread of the system switches from one task to another; NULL, or what is not a task:
 * none. */
void carrier_switch(struct traced_thread *from, struct traced_thread *to);

#pragma GCC visibility pop
#endif
