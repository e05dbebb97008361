/* Carriers: threads of the system that run tasks of the program's own; which task is on which of
 * them is told whenever that changes (wire/task_placement.h). */
#ifndef CLIENTS_LIBPOET_CARRIER_THREADS_H
#define CLIENTS_LIBPOET_CARRIER_THREADS_H

#include "clients/libpoet/core/thread.h"

#pragma GCC visibility push(hidden)

/* The calling thread of the system goes from one task to another; NULL, or what is no task:
 * none. */
void carrier_switch(struct traced_thread *from, struct traced_thread *to);

#pragma GCC visibility pop
#endif
