/* Sets of descriptors for which a thread waits in poll, select or epoll_wait, from /proc: whether
 * only the threads of its own process can make one of them ready.
 *
 * They can if all are pipes, eventfds and Unix sockets with a peer in the process itself, that no
 * other process has, if all threads of the process are traced, and if it has neither a signal
 * handler that might write to one nor a descriptor by which the kernel might (io_uring, a device).
 * Whatever is not known means that others can. */
#ifndef SERVER_OSMETRICS_POLL_SETS_H
#define SERVER_OSMETRICS_POLL_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A thread that sleeps in such a call. */
struct poll_wait {
    int process; /* descriptor of its process's directory in /proc; borrowed */
    pid_t pid; /* of the process */
    size_t threads; /* number of its threads that are traced */
    const char *call; /* as in /proc/PID/task/TID/syscall, terminated; borrowed */
};

bool poll_set_is_own(const struct poll_wait *wait);

#endif
