/* Unix sockets by name. */
#ifndef CLIENTS_LIBPOET_IPC_UNIX_NAMES_H
#define CLIENTS_LIBPOET_IPC_UNIX_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#pragma GCC visibility push(hidden)

uint64_t unix_name_end(uint64_t cookie, bool out); /* Returns the stream; 0: none. */
void unix_name_listen(const struct sockaddr *at, socklen_t size);
void unix_name_connecting(int fd, const struct sockaddr *to, socklen_t size);
void unix_name_accepted(const struct sockaddr *at, socklen_t size, int fd);

#pragma GCC visibility pop
#endif
