/* The calls that bytes go through: what a thread is writing while a signal interrupts it. */
#ifndef CLIENTS_LIBPOET_IPC_BYTE_CALLS_H
#define CLIENTS_LIBPOET_IPC_BYTE_CALLS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

void byte_calls_forked(void); /* in the child: the thread that forked writes nothing there */
/* In a signal handler: records what is written and read already, before the call that writes
 * has come back.  False: it cannot be told whether that is recorded yet. */
bool byte_calls_interrupted(void);

#pragma GCC visibility pop
#endif
