/* How the processes of a run began: with a message of the thread that forked, or executed another
 * program. */
#ifndef SERVER_RUN_PROCESS_CREATION_H
#define SERVER_RUN_PROCESS_CREATION_H

#include "server/run/run.h"

/* Returns the first line of a process, that of its first thread; 0 if it has none. */
uint32_t process_creation_line(const struct run *run, size_t process);
/* Returns the position of the message that its first event received; NO_POSITION if it received
 * none, or these are not kept. */
uint64_t process_creation_message(const struct run *run, size_t process);

#endif
