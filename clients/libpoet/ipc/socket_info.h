/* State of a socket that only the kernel knows. */
#ifndef CLIENTS_LIBPOET_IPC_SOCKET_INFO_H
#define CLIENTS_LIBPOET_IPC_SOCKET_INFO_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Gets an id that no other socket has. Returns false if it is not a socket. */
bool socket_cookie(int fd, uint64_t *cookie);
/* Returns whether calls that read from a socket, or write to it, have a timeout. */
bool socket_has_timeout(int fd, bool writes);
/* Returns the size of the send buffer of a Unix socket; -1: it is another descriptor. */
int socket_unix_room(int fd);
/* Returns the inode of a Unix socket's peer; 0: not known. */
uint64_t socket_peer(uint64_t inode);

/* Returns whether the SYN counts as an acknowledged byte of a TCP connection, -1 if not known.
 * socket_written() and socket_read() get how many bytes were written and read since the connection
 * began, at least as many as the caller knows of; they return false if that is not known. syn: what
 * socket_counts_syn() returned. */
int socket_counts_syn(int fd);
bool socket_written(int fd, bool syn, uint64_t least, uint64_t *bytes);
bool socket_read(int fd, uint64_t least, uint64_t *bytes);
bool socket_has_ended(int fd); /* Returns whether there is nothing to read, nor ever will be. */
/* Returns whether the connection of that socket is still open for writing, in any process of this
 * host: 1, 0; -1: not known. */
int socket_is_open(uint64_t cookie, const poet_place_t *here, const poet_place_t *there);

#pragma GCC visibility pop
#endif
