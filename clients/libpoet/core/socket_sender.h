/* A server that memory cannot be shared with. */
#ifndef CLIENTS_LIBPOET_CORE_SOCKET_SENDER_H
#define CLIENTS_LIBPOET_CORE_SOCKET_SENDER_H

#include "wire/slot.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define SENDER_MS 2000 /* how long the end of a program may wait until all is sent */

bool socket_sender_begin(void); /* for the present life */
bool socket_sender_add(struct queue_head *head,
                       size_t bytes); /* takes the memory; false: it does not */
void socket_sender_wake(void);
/* Waits until what is there now has been sent.  From a signal handler, too, in a thread that is not
 * busy. */
void socket_sender_flush(unsigned most_ms);
/* The server knows whether all was sent (SENT): what is still in the queues of a program that is
 * killed is lost. */
void socket_sender_finish(
    unsigned most_ms); /* the process ends: flushes, and what has not gone is said to be lost */
void socket_sender_pause(
    unsigned most_ms); /* it becomes another program: flushes, and says whether that was all */
void socket_sender_resume(void); /* it did not */
void socket_sender_forked(void);

#pragma GCC visibility pop
#endif
