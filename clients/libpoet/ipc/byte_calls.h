/* Calls that read and write bytes: what a thread is writing while a signal interrupts it. */
#ifndef CLIENTS_LIBPOET_IPC_BYTE_CALLS_H
#define CLIENTS_LIBPOET_IPC_BYTE_CALLS_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Called in the child: the thread that forked is not writing there. */
void byte_calls_forked(void);
/* Called in a signal handler: records what is already written and read, before the interrupted call
 * returns. Returns false if it is not known whether that has been recorded. */
bool byte_calls_interrupted(void);

#pragma GCC visibility pop
#endif
