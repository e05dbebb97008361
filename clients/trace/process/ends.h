/* What a descriptor is an end of. */
#ifndef CLIENTS_TRACE_PROCESS_ENDS_H
#define CLIENTS_TRACE_PROCESS_ENDS_H

#include "clients/trace/poet.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

enum end_kind { END_NONE, END_STREAM, END_EVENTFD, END_FAR };
struct end {
    enum end_kind kind;
    uint64_t key; /* of a stream, an eventfd; else 0 */
    poet_place_t here, there; /* of END_FAR (far.h); ports 0: not known any more */
};
struct end end_find(int fd, bool out);
struct end end_of_status(int fd, const struct stat *st, bool out); /* of streams alone */
bool end_writes(int fd, const struct stat *st); /* its closing may be the end of a stream */
void ends_pipe(const int fds[2]);
void ends_fifo(int fd); /* a file was opened: if it is one */
void ends_socketpair(const int fds[2]);
void ends_listen(int fd);
void ends_connecting(int fd, const struct sockaddr *to, socklen_t size); /* before, */
void ends_connected(int fd, const struct sockaddr *to, bool done); /* and after */
void ends_accepted(int listener, int fd);

#pragma GCC visibility pop
#endif
