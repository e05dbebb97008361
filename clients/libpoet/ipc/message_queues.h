/* POSIX message queues: what a thread is sending while a signal interrupts it. */
#ifndef CLIENTS_LIBPOET_IPC_MESSAGE_QUEUES_H
#define CLIENTS_LIBPOET_IPC_MESSAGE_QUEUES_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

void mqueues_forked(void); /* in the child: the thread that forked sends nothing there */
/* In a signal handler: records a message that is sent and received already.  False: it cannot
 * be told whether that is recorded yet. */
bool mqueues_interrupted(void);

#pragma GCC visibility pop
#endif
