/* POSIX message queues: what a thread is sending while a signal interrupts it. */
#ifndef CLIENTS_LIBPOET_IPC_MESSAGE_QUEUES_H
#define CLIENTS_LIBPOET_IPC_MESSAGE_QUEUES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

void mqueues_forked(void); /* Called in the child: the thread that forked is not sending there. */
/* Called in a signal handler: records a message that is already sent and received. Returns false if
 * it is not known whether that has been recorded. */
bool mqueues_interrupted(void);

#pragma GCC visibility pop
#endif
