/* File descriptors that get input from outside of the run. */
#ifndef CLIENTS_LIBPOET_INTERPOSE_EXTERNAL_FDS_H
#define CLIENTS_LIBPOET_INTERPOSE_EXTERNAL_FDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#pragma GCC visibility push(hidden)

/* Called by the first program of a run: its standard descriptors are external. */
void external_fd_add_inherited(void);
bool external_fd_is_external(int fd);
/* Returns whether the socket receives datagrams from any sender, so that each must be checked. */
bool external_fd_is_per_sender(int fd);
/* Returns whether the sender is outside of the run. */
bool external_fd_is_remote_sender(const struct sockaddr_storage *sender);
/* Skips replayed input, so that it is not read again. */
void external_fd_skip(int fd, int64_t bytes);

#pragma GCC visibility pop
#endif
