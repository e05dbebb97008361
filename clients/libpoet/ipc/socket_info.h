/* What the kernel alone knows of a socket. */
#ifndef CLIENTS_LIBPOET_IPC_SOCKET_INFO_H
#define CLIENTS_LIBPOET_IPC_SOCKET_INFO_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

bool socket_cookie(int fd, uint64_t *cookie); /* no other socket has it; false: it is no socket */
/* By inodes: who the peer of a Unix socket is; 0: not known. */
uint64_t socket_peer(uint64_t inode);

/* Of a TCP connection, how many bytes were written and read since its begin: at least so many, as
 * the caller knows.  False:  it cannot be said.  syn: whether what is acknowledged counts one that
 * is no byte, as socket_counts_syn says once (-1: not known). */
int socket_counts_syn(int fd);
bool socket_written(int fd, bool syn, uint64_t least, uint64_t *bytes);
bool socket_read(int fd, uint64_t least, uint64_t *bytes);
bool socket_has_ended(int fd); /* nothing is there to be read, nor will be */
/* Whether the connection of that socket is still open to write, in any process of this host: 1, 0;
 * -1: not known. */
int socket_is_open(uint64_t cookie, const poet_place_t *here, const poet_place_t *there);

#pragma GCC visibility pop
#endif
