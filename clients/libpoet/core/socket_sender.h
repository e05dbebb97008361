/* Sending queues over the socket, to a server that memory cannot be shared with. */
#ifndef CLIENTS_LIBPOET_CORE_SOCKET_SENDER_H
#define CLIENTS_LIBPOET_CORE_SOCKET_SENDER_H

#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define SENDER_MS 2000 /* how long the end of a program may wait until all is sent, in ms */

bool socket_sender_begin(void); /* Begins for the present lifetime. */
bool socket_sender_add(struct queue_head *head,
                       size_t bytes); /* Takes over the memory. Returns false if it does not. */
void socket_sender_wake(void);
/* Waits until the present content of the queues has been sent. May be called by a signal handler if
 * its thread is not busy. */
void socket_sender_flush(unsigned most_ms);
/* The server knows whether everything was sent (SENT): what is still in the queues of a program
 * that is killed is lost. */
/* Called when the process ends: flushes, and reports what was not sent as lost. */
void socket_sender_finish(unsigned most_ms);
void socket_sender_pause(
    unsigned most_ms); /* Called before exec: flushes, and reports whether that was all. */
void socket_sender_resume(void); /* Called if the exec failed. */
void socket_sender_forked(void);

#pragma GCC visibility pop
#endif
