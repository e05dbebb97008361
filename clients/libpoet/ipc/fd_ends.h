/* Classification of file descriptors: the object of which a descriptor is an end, whatever its
 * number. */
#ifndef CLIENTS_LIBPOET_IPC_FD_ENDS_H
#define CLIENTS_LIBPOET_IPC_FD_ENDS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

enum fd_end_kind { FD_END_NONE, FD_END_STREAM, FD_END_EVENTFD, FD_END_TCP };
struct fd_end {
    enum fd_end_kind kind;
    uint64_t key; /* of a stream, an eventfd; else 0 */
    poet_place_t here, there; /* of FD_END_TCP (tcp_peers.h); ports 0: no longer known */
};
struct fd_end fd_end_find(int fd, bool out);
struct fd_end fd_end_of_status(int fd, const struct stat *st, bool out); /* For streams only. */
/* Returns whether closing it may be the end of a stream. */
bool fd_end_writes(int fd, const struct stat *st);
void fd_end_pipe(const int fds[2]);
/* An open of a FIFO that waits for the other end. */
struct fifo_opening {
    poet_line_t line; /* 0: it is another file, or the call does not wait */
    poet_type_t type;
    const void *site;
};
void fd_end_begin_opening(struct fifo_opening *opening, int at, const char *path, int flags,
                          const void *site);
void fd_end_end_opening(const struct fifo_opening *opening, int fd);
void fd_end_fifo(int fd); /* Called when a file was opened, which may be a FIFO. */
void fd_end_socketpair(const int fds[2]);
void fd_end_listen(int fd);
void fd_end_connecting(int fd, const struct sockaddr *to, socklen_t size); /* Called before, */
void fd_end_connected(int fd, const struct sockaddr *to, bool done); /* and after connecting. */
void fd_end_accepted(int listener, int fd);

#pragma GCC visibility pop

#endif
