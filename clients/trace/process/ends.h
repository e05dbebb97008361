/* What a descriptor is an end of. */
#ifndef CLIENTS_TRACE_PROCESS_ENDS_H
#define CLIENTS_TRACE_PROCESS_ENDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

#pragma GCC visibility push(hidden)

enum end_kind { END_NONE, END_STREAM, END_EVENTFD };
struct end {
    enum end_kind kind;
    uint64_t key;
};
struct end end_find(int fd, bool out);
uint64_t end_of_status(int fd, const struct stat *st, bool out); /* of a stream; 0: none */
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
