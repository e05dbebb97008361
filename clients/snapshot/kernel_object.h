/* Objects of the kernel at which threads sleep in system calls: pipes, sockets, eventfds, message
 * queues, semaphores of System V, locked and opened files. Read from /proc (proc(5)), and for the
 * other end of a local socket from sock_diag(7); nothing is changed. */
#ifndef CLIENTS_SNAPSHOT_KERNEL_OBJECT_H
#define CLIENTS_SNAPSHOT_KERNEL_OBJECT_H

#include "clients/snapshot/wait_for_graph.h"

/* The longest name of an object, with its NUL; longer ones are cut. */
#define KERNEL_OBJECT_NAME 160u

struct kernel_object {
    enum wait_kind kind; /* WAIT_NONE: the call is not made for one that is known */
    uint64_t number; /* of its inode, of the eventfd, or its identifier; of a child: its PID */
    uint64_t far; /* of a socket: the other end's; of a file: hash of the lock in the way; or 0 */
    bool timed; /* the wait has a timeout */
    bool open; /* also something else than a process that has it can end the wait */
    bool linked; /* a process can open it by its name */
    char name[KERNEL_OBJECT_NAME]; /* "socket 4711", "/tmp/file", "/queue" */
    char fact[KERNEL_OBJECT_NAME]; /* "its value is 0, ..."; "": nothing */
};

/* Returns what a thread of a process waits for in a call. */
struct kernel_object kernel_object_of(uint32_t pid, const struct system_call *call);

/* Returns the type of descriptors that refer to objects of a kind. */
enum descriptor_type kernel_object_type(enum wait_kind kind);
#endif
