/* Processes that are not traced and have the other end of a pipe, FIFO or message queue at which a
 * thread sleeps, from /proc. */
#ifndef SERVER_OSMETRICS_STREAM_HOLDERS_H
#define SERVER_OSMETRICS_STREAM_HOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

/* A thread that sleeps in a call. */
struct stream_wait {
    int process; /* descriptor of its process's directory in /proc; borrowed */
    pid_t pid; /* of the process */
    const char *call; /* as in /proc/PID/task/TID/syscall, terminated; borrowed */
    bool (*is_traced)(const void *context, pid_t pid);
    const void *context;
};

#define STREAM_HOLDER_NAME 16u /* a name of a process, with its final 0 */

/* Returns a process that is not traced and can end the wait; 0: none is seen.  Sets its name. */
pid_t stream_holder_find(const struct stream_wait *wait, char name[STREAM_HOLDER_NAME]);

#endif
