/* Carrier threads: threads of the system that run user-level tasks. Each change of a task's carrier
 * is reported (wire/task_placement.h). */
#ifndef CLIENTS_LIBPOET_CARRIER_THREADS_H
#define CLIENTS_LIBPOET_CARRIER_THREADS_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* The calling thread of the system switches from one task to another; NULL, or what is not a task:
 * none. */
void carrier_switch(struct traced_thread *from, struct traced_thread *to);

#pragma GCC visibility pop
#endif
