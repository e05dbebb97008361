/* Events of libpoet-process, recorded through poet.h: their types, and the lines that they are on
 * or name as objects. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_EVENTS_H
#define CLIENTS_LIBPOET_IPC_IPC_EVENTS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum ipc_event {
    WRITE,
    READ,
    FULL,
    EMPTY,
    TIMED_FULL,
    TIMED_EMPTY, /* the call has a timeout */
    OPEN_READING,
    OPEN_WRITING, /* a FIFO */
    OPENED,
    UNITS_WAIT,
    ZERO_WAIT, /* System V semaphores */
    TIMED_UNITS_WAIT,
    TIMED_ZERO_WAIT,
    WOKEN,
    READABLE,
    SHUT,
    ENDED,
    HANGUP, /* streams */
    ADD,
    ADDED,
    TAKE,
    DRAINED,
    SEE,
    SEEN,                   /* eventfds: of the thread, on the line */
    SENT,
    RECEIVED,                                         /* message queues */
    ASK,
    DENIED,
    LOCK,
    LOCKED,
    LOCKED_SHARED,
    UNLOCK,
    UNLOCKED,
    UNLOCKED_SHARED, /* file locks */
    EVENTS
};
enum ipc_object_kind {
    IPC_OBJECT_STREAM,
    IPC_OBJECT_CONNECTION, /* of two processes of the run */
    IPC_OBJECT_FIFO,
    IPC_OBJECT_PIPE,
    IPC_OBJECT_SOCKET_PAIR,
    IPC_OBJECT_TCP_STREAM,
    IPC_OBJECT_QUEUE,
    IPC_OBJECT_UNLINKED_QUEUE, /* no process can open it */
    IPC_OBJECT_EVENTFD,
    IPC_OBJECT_SYSV_SEMAPHORE,
    IPC_OBJECT_FILE_LOCK
};

poet_type_t event_type(enum ipc_event event);
/* Returns 0 if it is not recorded. */
poet_line_t ipc_event_line(enum ipc_object_kind kind, uint64_t key, const char *name);
/* Returns the line if it was used recently; else 0. */
poet_line_t ipc_event_line_known(uint64_t key);
/* Returns the line of a thread, possibly of another process. */
poet_line_t ipc_event_line_remote(const uint64_t identity[2]);
poet_event_t ipc_event_about(enum ipc_event event, poet_line_t about, unsigned doubt,
                             const void *site);
void ipc_event_pair(enum ipc_event here, enum ipc_event there, poet_line_t line, unsigned doubt,
                    const void *site);
void ipc_event_forked(void);

#pragma GCC visibility pop
#endif
