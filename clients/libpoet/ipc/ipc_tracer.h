/* libpoet-process: tracer of processes and their threads, which synchronize through objects of the
 * kernel. Declared here is what other calls, signals and forks do with each kind of object. */
#ifndef CLIENTS_LIBPOET_IPC_IPC_TRACER_H
#define CLIENTS_LIBPOET_IPC_IPC_TRACER_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

/* Called in the child: the thread that forked is not writing or sending there. */
void byte_calls_forked(void);
void mqueues_forked(void);
void file_locks_forked(void);
/* Called in a signal handler: record what is already written and read, or sent and received, before
 * the interrupted call returns. Return false if it is not known whether that has been recorded. */
bool byte_calls_interrupted(void);
bool mqueues_interrupted(void);

void fd_close_init(void); /* Checks the descriptors that this program inherited. */

void file_locks_closing(int fd, const struct stat *st, const void *site);
void file_locks_duplicated(int from, int to);
void file_locks_end(const void *site); /* Called at the end of the process. */

/* Returns the key of an eventfd, 0 if it was not traced from its beginning. */
uint64_t eventfd_counter_key(int fd);
void eventfd_counter_created(int fd);
void eventfd_counter_add(uint64_t key, const void *site); /* Called before, */
void eventfd_counter_taken(uint64_t key, const void *site); /* and after the call. */
void eventfd_counter_seen(uint64_t key, const void *site); /* The counter is not zero. */

int poll_result_query(struct pollfd *fds, nfds_t count, int timeout);
/* A call that began at that time (now_ns) has found data to read, or the end. */
struct ipc_stream;
void stream_polled(int fd, const struct ipc_stream *stream, uint64_t began, const void *site);

#pragma GCC visibility pop
#endif
